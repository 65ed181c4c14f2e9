/** A function and its input. */
export type GrowthOptions<T> = {
  /** Returns an input of about so many bytes. */
  readonly input: (bytes: number) => T;
  readonly work: (input: T) => unknown;
};

const KB = 1_024;
const SIZES = [4, 16, 64, 256, 1_024].map((factor) => factor * KB);

/** The minimum to read for a measurement, so that fast functions are called often enough. */
const LEAST_BYTES = 256 * KB;

/** The limit of the ratio. A linear function takes as long for one large piece as for the same bytes in small ones. */
const TOLERANCE = 8;

/** The kernel counts CPU time in ticks of up to 10 ms, so shorter times can't be compared. */
const LEAST_MS = 50;

/**
 * The first size, in bytes, at which one piece of input costs over 8 times the cost of pieces of 1 kB; undefined if
 * a function is linear up to 1 MB. The cost is the thread's CPU time in the best of three runs,
 * so that other load has little effect.
 */
export function superlinearAt<T>({ input, work }: GrowthOptions<T>): number | undefined {
  const costMs = (bytes: number): number => {
    const made = input(bytes);
    const before = process.threadCpuUsage();
    for (let read = 0; read < LEAST_BYTES; read += bytes) work(made);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
  const runs = [1, 2, 3];
  const limitMs = TOLERANCE * Math.max(LEAST_MS, Math.min(...runs.map(() => costMs(KB))));
  return SIZES.find((bytes) => runs.every(() => costMs(bytes) > limitMs * Math.max(1, bytes / LEAST_BYTES)));
}
