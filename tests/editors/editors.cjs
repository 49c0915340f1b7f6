// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What an editor makes of the schemas: the JSON language server of VS Code completes, explains and checks tree files and
// drop-ins with them. Usage: editors.cjs SCHEMA DROPIN TYPES, the output of "btctl schema", "btctl schema drop-in" and
// "btctl types --json".

'use strict';
const assert = require('node:assert');
const fs = require('node:fs');
const { getLanguageService, TextDocument } = require('vscode-json-languageservice');

const [schema, dropin, types] = process.argv.slice(2).map((path) => JSON.parse(fs.readFileSync(path, 'utf8')));
const service = getLanguageService({});
service.configure({ allowComments: true, schemas: [
  { uri: 'btd://tree', fileMatch: ['trees/*.json'], schema },
  { uri: 'btd://dropin', fileMatch: ['*.json.d/*.json'], schema: dropin }] });

// The cursor is at the mark. Without a path, the text is that of a root.
function open(root, path) {
  const text = path ? root : `{ "btd": 1, "root": ${root} }`;
  const document = TextDocument.create(path ?? 'file:///etc/btd/trees/tree.json', 'json', 1, text.replace('§', ''));
  return { document, json: service.parseJSONDocument(document), position: document.positionAt(text.indexOf('§')) };
}

async function completions(root, path) {
  const { document, json, position } = open(root, path);
  return (await service.doComplete(document, position, json)).items.map((item) => item.label);
}

async function hover(root, path) {
  const { document, json, position } = open(root, path);
  const found = await service.doHover(document, position, json);
  return found ? found.contents.join(' ') : '';
}

// The text at each mistake, with the message.
async function mistakes(root, path) {
  const { document, json } = open(root, path);
  return (await service.doValidation(document, json)).map((found) => [document.getText(found.range), found.message]);
}

// Markdown of the server escapes some characters.
const spaced = (text) => text.replace(/\s+/g, ' ').trim();
const plain = (text) => spaced(text.replace(/\\(.)/g, '$1').replace(/&nbsp;| /g, ' '));

async function test_type(type) {
  const node = (rest) => `{ "type": "${type.name}"${rest} }`;
  const offered = await completions(node(', "§"'));
  const names = [...new Set(type.parameters.map((parameter) => parameter.name))];

  for (const name of [...names, 'description', 'skip_if', 'on_failure'])
    assert(offered.includes(name), `${type.name}: '${name}' is not offered`);
  assert.strictEqual(offered.includes('children'), type.class === 'control', `${type.name}: children`);

  assert.strictEqual(plain(await hover(`{ "type": "${type.name.slice(0, 1)}§${type.name.slice(1)}" }`)),
    spaced(type.summary), `${type.name}: hover`);

  for (const parameter of type.parameters) {
    const about = `${type.name}.${parameter.name}`;
    const explained = plain(await hover(node(`, "${parameter.name[0]}§${parameter.name.slice(1)}": null`)));

    if (parameter.name !== 'name' && names.length === type.parameters.length)
      assert.strictEqual(explained, spaced(parameter.doc), `${about}: hover`);
    if (parameter.kind !== 'one of')
      continue;

    const words = await completions(node(`, "${parameter.name}": §`));
    for (const word of parameter.values)
      assert(words.includes(JSON.stringify(word)), `${about}: "${word}" is not offered`);

    const found = await mistakes(node(`, "${parameter.name}": "no-such-word"`));
    assert(found.some(([text]) => text === '"no-such-word"'), `${about}: a wrong word is not pointed at`);
  }

  const unknown = await mistakes(node(', "no_such_key": 1'));
  assert(unknown.some(([text]) => text === '"no_such_key"'), `${type.name}: an unknown key is not pointed at`);
}

async function test_types() {
  const offered = await completions('{ "type": "§" }');

  for (const type of types)
    for (const name of [type.name, ...type.aliases])
      assert(offered.includes(JSON.stringify(name)), `the type ${name} is not offered`);
}

async function test_mistakes() {
  const call = '"type": "DBusCall", "destination": "a.b", "path": "/a", "interface": "a.b"';
  const table = [
    ['{ "type": "StartUnit", "unit": "a b" }', '"a b"', 'expected the name of a unit'],
    ['{ "type": "PathExists", "path": "tmp" }', '"tmp"', 'expected an absolute path'],
    [`{ ${call}, "member": "a.M" }`, '"a.M"', 'expected the name of a method'],
    ['{ "type": "Sleep", "duration": "5 parsecs" }', '"5 parsecs"', 'expected a time span, such as "150ms" or "1min 30s"'],
    ['{ "type": "Spawn", "argv": [] }', '[]', 'Array has too few items. Expected 1 or more.'],
    ['{ "type": "Spawn", "argv": ["bin/x"] }', '"bin/x"', 'expected a program'],
    ['{ "type": "Spawn", "argv": ["x"], "env": { "1A": "b" } }', '"1A"', 'expected the name of a variable'],
    ['{ "type": "Spawn", "argv": ["x"], "success_exit": [256] }', '256', 'Value is above the maximum of 255.'],
    ['{ "type": "UnitState", "unit": "a.service", "state": "actve" }', '"actve"', null],
  ];

  for (const [root, text, message] of table) {
    const found = await mistakes(root);
    assert.deepStrictEqual(found.map(([at]) => at), [text], root);
    if (message)
      assert.strictEqual(found[0][1], message, root);
  }

  assert.deepStrictEqual(await mistakes('{ "type": "StartUnit", "unit": "{unit}" }'), []);
  assert.deepStrictEqual(await mistakes('{ "type": "Sleep", "duration": "{n}s" }'), []);
}

async function test_dropins() {
  const path = 'file:///etc/btd/trees/boot.json.d/override.json';
  const table = [
    ['{ "root": {} }', '"root"'], ['{ "autostart": 1 }', '1'], ['{ "nodes": { "A": { "type": "Sleep" } } }', '"type"'],
    ['{ "nodes": { "A": { "duraton": "1s" } } }', '"duraton"'], ['{ "nodes": { "A": { "clock": "x" } } }', '"x"'],
    ['{ "inputs": { "a": { "type": "int" } } }', '"type"'], ['{ "restart_limit": { "burst": 0 } }', '0'],
  ];

  assert.deepStrictEqual(await completions('{ "§" }', path).then((offered) => ['nodes', 'autostart', 'inputs', 'root']
    .map((key) => offered.includes(key))), [true, true, true, false]);
  const offered = await completions('{ "nodes": { "A": { "§" } } }', path);
  for (const type of types)
    for (const parameter of type.parameters)
      assert(offered.includes(parameter.name), `drop-in: '${parameter.name}' is not offered`);
  for (const [text, at] of table)
    assert.deepStrictEqual([...new Set((await mistakes(text, path)).map(([found]) => found))], [at], text);
  assert.deepStrictEqual(await mistakes('{ "restart": null, "restart_limit": { "burst": 2 }, "inputs": { "a": { "default": [1] } },'
    + ' "blackboard": { "b": 1 }, "nodes": { "Boot/A": { "timeout": "90s", "skip_if": null, "env": { "X": null } } } }', path), []);
}

(async () => {
  await test_types();
  for (const type of types)
    await test_type(type);
  await test_mistakes();
  await test_dropins();
  console.log(`${types.length} types: completion, hover and mistakes as they should be`);
})().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
