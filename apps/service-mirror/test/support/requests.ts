import type { MirrorProcess } from './mirror-process.ts';

/** A program that starts with an empty mirror namespace does a dry run, to check whether the namespace exists. */
export const DRY_RUNS = 1;

/** How many requests of these methods a mirror has sent to all clusters, by its own metric. */
export async function requestsOf(mirror: MirrorProcess, methods: readonly string[]): Promise<number> {
  const { body } = await mirror.get('/metrics');
  const series = body
    .split('\n')
    .filter((line) => line.startsWith('semaphore_service_mirror_kube_http_request_total{'));
  return series
    .filter((line) => methods.some((method) => line.includes(`method="${method}"`)))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/** Requests that change something, and dry runs. */
export const writesOf = (mirror: MirrorProcess): Promise<number> => requestsOf(mirror, ['POST', 'PUT', 'DELETE']);
