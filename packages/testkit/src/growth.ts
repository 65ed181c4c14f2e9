/** A function, and what it reads. */
export type GrowthOptions<T> = {
  /** Makes an input of about so many bytes. */
  readonly input: (bytes: number) => T;
  readonly work: (input: T) => unknown;
};

const KB = 1_024;
const SIZES = [4, 16, 64, 256, 1_024].map((factor) => factor * KB);

/** How much is read for a measurement, at least: a function that takes microseconds is called often enough. */
const LEAST_BYTES = 256 * KB;

/** A linear function takes as long for large pieces as for as much in small ones. A quadratic one is above this at 16 kB. */
const TOLERANCE = 8;

/** The kernel counts CPU time by ticks of up to 10 ms: less than a few of them can't be told apart. */
const LEAST_MS = 50;

/**
 * The first size, in bytes, at which a piece of input costs more than 8 times what as much costs in pieces of 1 kB; undefined if
 * a function is linear up to 1 MB. The cost is CPU time of this thread, and the best of three runs counts,
 * so that other load matters little.
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
