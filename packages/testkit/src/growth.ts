/** A function and its input. */
export type GrowthOptions<T> = {
  /** Returns an input of about so many bytes. */
  readonly input: (bytes: number) => T;
  readonly work: (input: T) => unknown;
};

const KB = 1_024;
const SIZES = [4, 16, 64, 256, 1_024].map((factor) => factor * KB);

/** What is read for a measurement, unless it takes {@link ENOUGH_MS} before. A fast function is called often enough so. */
const ENOUGH_BYTES = 256 * KB;

/** The kernel counts CPU time in ticks of up to 10 ms, so shorter times can't be compared. */
const ENOUGH_MS = 50;

/** The limit of the ratio. A linear function takes as long for one large piece as for the same bytes in small ones. */
const TOLERANCE = 8;

/**
 * The first size, in bytes, at which one piece of input costs over 8 times the cost of pieces of 1 kB; undefined if
 * a function is linear up to 1 MB. The cost is the thread's CPU time in the best of three runs,
 * so that other load has little effect.
 */
export function superlinearAt<T>({ input, work }: GrowthOptions<T>): number | undefined {
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
  return SIZES.find((bytes) => runs.every(() => costMs(bytes) > limitMs));
}
