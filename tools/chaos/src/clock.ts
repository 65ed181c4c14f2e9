import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Loaded into a replica: its clock is wrong by the milliseconds in a file. Timers, the clock that only counts, and the one
 * that certificates are compared with stay right.
 */
const CLOCK = `
import { readFileSync } from 'node:fs';
const RightDate = Date;
let byMs = 0;
const read = () => (byMs = Number(readFileSync(process.env.CHAOS_CLOCK, 'utf8')));
read();
setInterval(read, 50).unref();
globalThis.Date = class Date extends RightDate {
  static now() {
    return RightDate.now() + byMs;
  }
  constructor(...args) {
    if (args.length > 0) super(...args);
    else super(RightDate.now() + byMs);
  }
};
`;

/** A clock that can be set. */
type Clock = {
  /** A Node.js flag and a variable of the process that goes by it. */
  readonly flag: string;
  readonly env: Readonly<Record<string, string>>;
  /** Makes it wrong by so much. */
  set(byMs: number): Promise<void>;
};

/** A clock of this name, which is right at first. @param dir for its files */
export async function startClock(dir: string, name: string): Promise<Clock> {
  const [code, offset] = [join(dir, 'clock.mjs'), join(dir, `${name}.clock`)];
  const set = (byMs: number): Promise<void> => writeFile(offset, String(byMs));
  await writeFile(code, CLOCK);
  await set(0);
  return { flag: `--import=${code}`, env: { CHAOS_CLOCK: offset }, set };
}
