/** A function and its input. */
export type GrowthOptions<T> = {
  /** Returns an input of about so many bytes. */
  readonly input: (bytes: number) => T;
  readonly work: (input: T) => unknown;
  /** The largest input that it ever gets, in bytes. Default: any. */
  readonly most?: number;
};

const KB = 1_024;
const SIZES = [4, 16, 64, 256, 1_024].map((factor) => factor * KB);

/** Beside fuzzing, up to 8 MB are measured: that takes twice as long. */
const LARGEST = 8_192 * KB;

/** What is read for a measurement, unless it takes {@link ENOUGH_MS} before. A fast function is called often enough so. */
const ENOUGH_BYTES = 256 * KB;

/** The kernel counts CPU time in ticks of up to 10 ms, so shorter times can't be compared. */
const ENOUGH_MS = 50;

/** The limit of the ratio. A linear function takes as long for one large piece as for the same bytes in small ones. */
const TOLERANCE = 8;

/**
 * The first size, in bytes, at which one piece of input costs over 8 times the cost of pieces of 1 kB; undefined if
 * a function is linear up to 1 MB, or 8 MB with FUZZ_SECONDS. The cost is the thread's CPU time in the best of three runs,
 * so that other load has little effect.
 */
export function superlinearAt<T>({ input, work, most = Infinity }: GrowthOptions<T>): number | undefined {
  /** What 256 kB cost in pieces of a size. */
  const costMs = (bytes: number): number => {
    const made = input(bytes);
    const before = process.threadCpuUsage();
    let read = 0;
    let ms = 0;
    while (read < ENOUGH_BYTES && ms < ENOUGH_MS) {
      work(made);
      read += bytes;
      const { user, system } = process.threadCpuUsage(before);
      ms = (user + system) / 1_000;
    }
    return (ms * ENOUGH_BYTES) / read;
  };
  const runs = [1, 2, 3];
  const limitMs = TOLERANCE * Math.max(ENOUGH_MS, Math.min(...runs.map(() => costMs(KB))));
  const sizes = process.env['FUZZ_SECONDS'] === undefined ? SIZES : [...SIZES, Math.min(LARGEST, most)];
  return sizes.find((bytes) => runs.every(() => costMs(bytes) > limitMs));
}
