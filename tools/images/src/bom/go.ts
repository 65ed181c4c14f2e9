import { type Component, encoded } from './bom.ts';

/** The magic of a Go program's build information, and the offset of its two strings: see debug/buildinfo. */
const MAGIC = Buffer.from('\xff Go buildinf:', 'latin1');
const HEADER_BYTES = 32;
const FLAGS_AT = 15;
const INLINE = 2;

/** The header begins at a multiple of this; elsewhere, the same bytes aren't a header. */
const ALIGNMENT_BYTES = 16;

/** Marker bytes at each end of the list of modules. */
const SENTINEL_BYTES = 16;

/**
 * The modules of a Go program, with its own and the standard library.
 *
 * @param program a binary of Go 1.18 or later, stripped or not
 * @throws {Error} if it isn't one
 */
export function goComponents(program: Buffer): Component[] {
  const at = headerOf(program);
  if (((program[at + FLAGS_AT] ?? 0) & INLINE) === 0) throw new Error('not a program of Go 1.18 or later');
  const [go, next] = stringAt(program, at + HEADER_BYTES);
  const [list] = stringAt(program, next);
  const modules = list
    .subarray(SENTINEL_BYTES, -SENTINEL_BYTES)
    .toString()
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([kind]) => kind === 'mod' || kind === 'dep')
    .map(([, path = '', version = '']) => moduleOf(path, version));
  return [moduleOf('stdlib', go.toString().replace(/^go/, '')), ...modules];
}

function headerOf(program: Buffer): number {
  let at = program.indexOf(MAGIC);
  while (at % ALIGNMENT_BYTES > 0) at = program.indexOf(MAGIC, at + 1);
  return at;
}

function moduleOf(name: string, version: string): Component {
  return {
    type: 'library',
    name,
    version,
    purl: `pkg:golang/${name.split('/').map(encoded).join('/')}@${encoded(version)}`,
  };
}

/** A string after its length, a varint, and the offset of its end. */
function stringAt(program: Buffer, at: number): readonly [text: Buffer, end: number] {
  let [length, shift, next] = [0, 0, at];
  for (;;) {
    const byte = program[next++] ?? 0;
    length += (byte & 0x7f) * 2 ** shift;
    shift += 7;
    if (next + length > program.length) throw new Error('the program is cut within its build information');
    if (byte < 0x80) return [program.subarray(next, next + length), next + length];
  }
}
