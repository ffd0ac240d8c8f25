import js from "@eslint/js";
import globals from "globals";

const given = {ROBUSTSSL: "readonly"};  // by data.js

export default [
  {ignores: ["**/*.min.js"]},
  js.configs.recommended,
  {rules: {
    eqeqeq: ["error", "always", {null: "ignore"}],
    "no-shadow": ["error", {builtinGlobals: false}],
    "no-unused-vars": ["error", {argsIgnorePattern: "^_"}],
    "prefer-const": "error",
  }},
  {files: ["src/robustssl/sites/static/**/*.js"], languageOptions: {globals: {...globals.browser, ...given}}},
  {files: ["tests/js/*.js"], languageOptions: {globals: globals.node}},
];
