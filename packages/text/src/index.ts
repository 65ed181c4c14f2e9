export { jsonPage, pageOf, yamlPage } from './page.ts';
export { cut, MAX_TEXT, printable, printableJson, quoted, quotedWords } from './printable.ts';
export { Secrets } from './secrets.ts';
export { parseYaml, type YamlProblem } from './yaml.ts';
