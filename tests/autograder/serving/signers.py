"""Keys of a platform that the tests play, and the tokens it signs, spoiled at will."""

import base64
import hashlib
import hmac
import json
import time

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey


def new_key(name="first"):
    return RSAKey.generate_key(2048, parameters={"kid": name, "use": "sig", "alg": "RS256"})


def public(*keys):
    return KeySet(list(keys)).as_dict(private=False)


def signed(claims, key, **header):
    return jwt.encode({"alg": "RS256", "kid": key.kid, "typ": "JWT"} | header, claims, key)


def unsigned(claims):
    """alg: none, which no library makes any more."""
    return ".".join([_part({"alg": "none", "typ": "JWT"}), _part(claims), ""])


def signed_with_public_key(claims, key):
    """HS256 whose secret is the public key, which a careless verifier takes for RS256."""
    text = ".".join([_part({"alg": "HS256", "kid": key.kid, "typ": "JWT"}), _part(claims)])
    tag = hmac.new(key.as_pem(private=False), text.encode(), hashlib.sha256).digest()
    return f"{text}.{base64.urlsafe_b64encode(tag).decode().rstrip('=')}"


def _part(content):
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


def times(**changes):
    now = int(time.time())
    return {"iat": now, "exp": now + 300} | changes
