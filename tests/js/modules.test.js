/* The modules can be joined into one script: modules.txt holds each of them after what it imports, no name is there twice,
   imports stand in one line, and what comes out is a script. */
import assert from "node:assert/strict";
import {readFileSync, readdirSync} from "node:fs";
import path from "node:path";
import test from "node:test";
import {fileURLToPath} from "node:url";
import {Script} from "node:vm";

const STATIC = fileURLToPath(new URL("../../src/robustssl/sites/static", import.meta.url));
const modules = readFileSync(path.join(STATIC, "modules.txt"), "utf8").trim().split("\n");
const texts = modules.map(name => readFileSync(path.join(STATIC, name), "utf8"));

test("every module is listed, after what it imports", () => {
  const files = readdirSync(STATIC, {recursive: true}).filter(name => name.endsWith(".js") && !name.endsWith(".min.js"));
  assert.deepEqual([...modules].sort(), files.sort());
  modules.forEach((name, k) => {
    for (const [, from] of texts[k].matchAll(/^import .* from "(.*)";$/gm)) {
      const wanted = path.posix.join(path.posix.dirname(name), from);
      assert.ok(modules.slice(0, k).includes(wanted), `${name} imports ${wanted}, which does not stand before it`);
    }
  });
});

test("joined, they are a script in which each name is defined once", () => {
  const names = texts.flatMap(text => [...text.matchAll(/^(?:export )?(?:async )?(?:function|const|let|class) (\w+)/gm)].map(found => found[1]));
  assert.deepEqual(names.filter((name, k) => names.indexOf(name) !== k), []);
  const joined = texts.join("\n").replaceAll(/^import .*\n/gm, "").replaceAll(/^export /gm, "");
  assert.doesNotMatch(joined, /^(import|export)\b/m);
  assert.ok(new Script(`(() => { "use strict";\n${joined}\n})();`));
});
