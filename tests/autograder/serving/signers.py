"""Keys of a platform that the tests play, and the tokens it signs, spoiled at will.

PyJWT makes and reads them, and not the library with which the tool does: what both misread would go unseen.
"""

import base64
import hashlib
import hmac
import json
import time
from dataclasses import dataclass

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import RSAAlgorithm


@dataclass(frozen=True)
class Key:
    """An RSA key by its name."""

    kid: str
    private: RSAPrivateKey

    def public(self):
        told = RSAAlgorithm.to_jwk(self.private.public_key(), as_dict=True)
        return told | {"kid": self.kid, "use": "sig", "alg": "RS256"}


def new_key(name="first"):
    return Key(name, generate_private_key(65537, 2048))


def public(*keys):
    return {"keys": [key.public() for key in keys]}


def signed(claims, key, alg="RS256", **header):
    return jwt.encode(claims, key.private, algorithm=alg, headers={"kid": key.kid} | header)


def verified(token, keys, audience):
    """The claims of a token that one of these public keys signed for this audience; raises if none did."""
    key = jwt.PyJWKSet.from_dict(keys)[jwt.get_unverified_header(token)["kid"]]
    needed = {"require": ["iss", "sub", "aud", "iat", "exp", "jti"]}
    return jwt.decode(token, key, algorithms=["RS256"], audience=audience, options=needed)


def unsigned(claims):
    """alg: none, which no library makes any more."""
    return ".".join([_part({"alg": "none", "typ": "JWT"}), _part(claims), ""])


def signed_with_public_key(claims, key):
    """HS256 whose secret is the public key, which a careless verifier takes for RS256."""
    text = ".".join([_part({"alg": "HS256", "kid": key.kid, "typ": "JWT"}), _part(claims)])
    secret = key.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    tag = hmac.new(secret, text.encode(), hashlib.sha256).digest()
    return f"{text}.{base64.urlsafe_b64encode(tag).decode().rstrip('=')}"


def _part(content):
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


def times(**changes):
    now = int(time.time())
    return {"iat": now, "exp": now + 300} | changes
