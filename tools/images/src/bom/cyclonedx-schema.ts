import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';

const library = import.meta.resolve('@cyclonedx/cyclonedx-library/package.json');
const read = (file: string): object =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`res/schema/${file}`, library)), 'utf8')) as object;

const others = ['spdx.SNAPSHOT.schema.json', 'jsf-0.82.SNAPSHOT.schema.json'];
const ajv = new Ajv({
  strict: false,
  schemas: Object.fromEntries(others.map((file) => [`http://cyclonedx.org/schema/${file}`, read(file)])),
});
addFormats.default(ajv);
// Formats that our bills don't use.
for (const format of ['iri-reference', 'idn-email']) ajv.addFormat(format, true);
const valid = ajv.compile(read('bom-1.6.SNAPSHOT.schema.json'));

/** The errors that the schema of CycloneDX 1.6 finds. */
export function faultsOf(bom: string): readonly string[] {
  valid(JSON.parse(bom));
  return (valid.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
