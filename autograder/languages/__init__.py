"""Catalogues of translations in gettext's format, the texts they translate, and translated notebooks."""
