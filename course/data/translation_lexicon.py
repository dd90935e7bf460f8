"""The words of the generated translation pair: each English word with its French translation, in every form.

All French nouns, verbs and adjectives before nouns begin with a consonant, so nothing is ever elided
(l', qu', cet): one space-separated word is one token.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal, cast

Gender = Literal["m", "f"]
Tense = Literal["present", "past", "future"]


@dataclass(frozen=True)
class Noun:
    """A noun in both numbers; one English word may be several French ones (potato, pomme de terre)."""

    singular: str
    plural: str
    french_singular: str
    french_plural: str
    gender: Gender

    def english(self, is_plural: bool) -> str:
        return self.plural if is_plural else self.singular

    def french(self, is_plural: bool) -> str:
        return self.french_plural if is_plural else self.french_singular


@dataclass(frozen=True)
class Agreeing:
    """A determiner or adjective whose French form follows the noun; None where the form does not exist."""

    english: str
    masculine: str | None
    feminine: str | None
    masculine_plural: str | None
    feminine_plural: str | None

    def french(self, gender: Gender, is_plural: bool) -> str | None:
        singular, plural = (
            (self.masculine, self.masculine_plural)
            if gender == "m"
            else (self.feminine, self.feminine_plural)
        )
        return plural if is_plural else singular

    def existing_french(self, gender: Gender, is_plural: bool) -> str:
        """The same form. Raises ValueError where it does not exist."""
        form = self.french(gender, is_plural)
        if form is None:
            raise ValueError(
                f"{self.english}: expected a {'plural' if is_plural else 'singular'} form in French, got none"
            )
        return form


@dataclass(frozen=True)
class Verb:
    """A verb (look for, chercher). French past: a or ont + participle; future: stem + a or ont."""

    base: str
    third: str
    past: str
    french_singular: str
    french_plural: str
    participle: str
    future_stem: str

    def french_future(self, is_plural: bool) -> str:
        return self.future_stem + ("ont" if is_plural else "a")


def _nouns(table: str) -> tuple[Noun, ...]:
    rows = ([cell.strip() for cell in row.split("|")] for row in table.strip().splitlines())
    return tuple(
        Noun(singular, plural, french_singular, french_plural, cast(Gender, gender))
        for singular, plural, french_singular, french_plural, gender in rows
    )


def _agreeing(table: str) -> tuple[Agreeing, ...]:
    rows = ([cell.strip() for cell in row.split("|")] for row in table.strip().splitlines())
    return tuple(Agreeing(english, *(form or None for form in forms)) for english, *forms in rows)


def _verbs(table: str) -> tuple[Verb, ...]:
    return tuple(Verb(*(cell.strip() for cell in row.split("|"))) for row in table.strip().splitlines())


@dataclass(frozen=True)
class Lexicon:
    """The word classes. Genders alternate in each, so that the first few words of a class include both."""

    people_and_animals: tuple[Noun, ...] = _nouns("""
        cat         | cats         | chat              | chats              | m
        girl        | girls        | fille             | filles             | f
        horse       | horses       | cheval            | chevaux            | m
        mouse       | mice         | souris            | souris             | f
        snowman     | snowmen      | bonhomme de neige | bonshommes de neige| m
        queen       | queens       | reine             | reines             | f
        baker       | bakers       | boulanger         | boulangers         | m
        cow         | cows         | vache             | vaches             | f
        rabbit      | rabbits      | lapin             | lapins             | m
        grandmother | grandmothers | grand-mère        | grand-mères        | f
        """)
    things: tuple[Noun, ...] = _nouns("""
        book    | books    | livre             | livres             | m
        house   | houses   | maison            | maisons            | f
        boat    | boats    | bateau            | bateaux            | m
        potato  | potatoes | pomme de terre    | pommes de terre    | f
        carpet  | carpets  | tapis             | tapis              | m
        door    | doors    | porte             | portes             | f
        castle  | castles  | château           | châteaux           | m
        flower  | flowers  | fleur             | fleurs             | f
        clock   | clocks   | réveil            | réveils            | m
        bedroom | bedrooms | chambre à coucher | chambres à coucher | f
        """)
    # A determiner goes with one number of the noun or with both; "the" is the only one that goes with both.
    singular_determiners: tuple[Agreeing, ...] = _agreeing("""
        the   | le     | la     | |
        a     | un     | une    | |
        this  | ce     | cette  | |
        my    | mon    | ma     | |
        every | chaque | chaque | |
        """)
    plural_determiners: tuple[Agreeing, ...] = _agreeing("""
        the   | | | les   | les
        two   | | | deux  | deux
        these | | | ces   | ces
        my    | | | mes   | mes
        three | | | trois | trois
        """)
    adjectives_before: tuple[Agreeing, ...] = _agreeing("""
        small  | petit | petite  | petits | petites
        big    | grand | grande  | grands | grandes
        old    | vieux | vieille | vieux  | vieilles
        pretty | joli  | jolie   | jolis  | jolies
        """)
    adjectives_after: tuple[Agreeing, ...] = _agreeing("""
        black | noir   | noire   | noirs  | noires
        red   | rouge  | rouge   | rouges | rouges
        white | blanc  | blanche | blancs | blanches
        brown | marron | marron  | marron | marron
        green | vert   | verte   | verts  | vertes
        sad   | triste | triste  | tristes| tristes
        heavy | lourd  | lourde  | lourds | lourdes
        blue  | bleu   | bleue   | bleus  | bleues
        """)
    transitive_verbs: tuple[Verb, ...] = _verbs("""
        see      | sees      | saw        | voit     | voient    | vu       | verr
        look for | looks for | looked for | cherche  | cherchent | cherché  | chercher
        find     | finds     | found      | trouve   | trouvent  | trouvé   | trouver
        follow   | follows   | followed   | suit     | suivent   | suivi    | suivr
        paint    | paints    | painted    | peint    | peignent  | peint    | peindr
        hide     | hides     | hid        | cache    | cachent   | caché    | cacher
        wash     | washes    | washed     | lave     | lavent    | lavé     | laver
        sell     | sells     | sold       | vend     | vendent   | vendu    | vendr
        """)
    intransitive_verbs: tuple[Verb, ...] = _verbs("""
        sleep  | sleeps  | slept   | dort   | dorment  | dormi  | dormir
        sing   | sings   | sang    | chante | chantent | chanté | chanter
        run    | runs    | ran     | court  | courent  | couru  | courr
        laugh  | laughs  | laughed | rit    | rient    | ri     | rir
        dance  | dances  | danced  | danse  | dansent  | dansé  | danser
        """)
    adverbs: tuple[tuple[str, str], ...] = (("often", "souvent"), ("always", "toujours"))
    prepositions: tuple[tuple[str, str], ...] = (
        ("behind", "derrière"),
        ("in front of", "devant"),
        ("with", "avec"),
        ("under", "sous"),
    )
    connectives: tuple[tuple[str, str], ...] = (("and", "et"), ("but", "mais"), ("because", "car"))

    def first(self, n_words: int) -> Lexicon:
        """The same classes cut to their first `n_words` words."""
        return replace(self, **{each.name: getattr(self, each.name)[:n_words] for each in fields(self)})
