// What `make lint-figures` holds the figures' modules and the site's script to.

import js from "@eslint/js";
import stylistic from "@stylistic/eslint-plugin";
import globals from "globals";

export default [
  { ignores: [".venv*/", "build/", "demo/"] },
  js.configs.recommended,
  {
    plugins: { "@stylistic": stylistic },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "@stylistic/max-len": ["error", { code: 140 }],
      "no-implicit-globals": "error",
      "no-shadow-restricted-names": "error",
      "no-var": "error",
      "prefer-const": "error",
      eqeqeq: "error",
      // `{ name, ...rest }` leaves something out.
      "no-unused-vars": ["error", { ignoreRestSiblings: true }],
    },
  },
  { files: ["course/figures/**/*.mjs"], languageOptions: { globals: globals.browser } },
  { files: ["tests/**/*.mjs"], languageOptions: { globals: globals.node } },
  {
    files: ["site/*.js"],
    languageOptions: { sourceType: "script", globals: { ...globals.browser, Documentation: "readonly", Search: "writable" } },
  },
];
