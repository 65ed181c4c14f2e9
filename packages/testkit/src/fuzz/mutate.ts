import type { Dice } from '@kube-semaphore/fault-proxy';

/**
 * Mutates a valid input.
 *
 * @param bytes approximate size, reached by repeating a part; 0 for no repetition. All else follows from the dice, so
 *   one input can have several sizes.
 */
export type Mutator = (seed: Buffer, dice: Dice, bytes: number) => Buffer;

/** Numbers at the limits of varints and lengths, invalid text bytes, and syntax of parsers. */
const PIECES: readonly Buffer[] = [
  Buffer.alloc(10, 0xff),
  Buffer.from('ffffffff0f', 'hex'),
  Buffer.from('7fffffff', 'hex'),
  Buffer.from('ffffffffffffffff01', 'hex'),
  Buffer.from('0000', 'hex'),
  Buffer.from('k8s\0'),
  '\n',
  '\r\n',
  '\t',
  '\u2028',
  '\u202e',
  '\ud83d',
  '\u001b[2J',
  '"',
  '\\',
  '\\u0000',
  '[',
  ']',
  '{',
  '}',
  ',',
  ':',
  '- ',
  '? ',
  '&a ',
  '*a',
  '<<: *a\n',
  '!!binary ',
  '!!js/function ',
  '|2\n',
  '>-\n',
  '# ',
  '%YAML 9.9\n',
  '---\n',
  '...\n',
  '~',
  'null',
  '.nan',
  '0x',
  '1e999',
  '-0',
  '__proto__',
  'constructor',
  '9007199254740993',
  '-1',
  '65536',
  '127.0.0.1',
  '::',
  '/0',
  '/129',
].map((piece) => Buffer.from(piece));

/** Changes, removes, doubles and inserts bytes. */
export const mutateBytes: Mutator = (seed, dice, bytes) => {
  let input = seed;
  for (let turns = dice.integer(0, 4); turns > 0; turns--) input = changed(input, dice);
  const { start, end } = range(input, dice);
  const unit = dice.pick([input.subarray(start, end), dice.pick(PIECES)]);
  if (bytes === 0 || unit.length === 0) return input;
  const repeated = Buffer.alloc(unit.length * Math.ceil(bytes / unit.length), unit);
  return Buffer.concat([input.subarray(0, end), repeated, input.subarray(end)]);
};

function changed(input: Buffer, dice: Dice): Buffer {
  const { start, end } = range(input, dice);
  const [before, part, after] = [input.subarray(0, start), input.subarray(start, end), input.subarray(end)];
  switch (dice.integer(0, 6)) {
    case 0:
      return Buffer.concat([before, after]);
    case 1:
      return Buffer.concat([before, part, part, after]);
    case 2:
      return Buffer.concat([before, dice.pick(PIECES), after]);
    case 3:
      return Buffer.concat([before, dice.pick(PIECES), part, after]);
    case 4:
      return before;
    case 5:
      return Buffer.concat([before, dice.bytes(dice.integer(1, 4)), input.subarray(Math.min(input.length, start + 1))]);
    default: {
      const flipped = Buffer.from(input);
      // Behind the end, nothing is set.
      flipped[start]! ^= 1 << dice.integer(0, 7);
      return flipped;
    }
  }
}

/** A part of the input, mostly a short one. */
function range({ length }: Buffer, dice: Dice): { readonly start: number; readonly end: number } {
  const start = dice.integer(0, length);
  return { start, end: Math.min(length, start + dice.integer(0, dice.pick([8, 64, length]))) };
}
