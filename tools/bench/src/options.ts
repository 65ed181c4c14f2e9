import { type PolicyOptions, policyOptions, policyUsage } from './policy/options.ts';
import { raceUsage } from './race-options.ts';
import { type MirrorOptions, mirrorOptions, mirrorUsage } from './service-mirror/options.ts';
import { sharedUsage, UsageError } from './shared-options.ts';
import { type WireGuardBenchOptions, wireGuardOptions, wireGuardUsage } from './wireguard/options.ts';

/** The app to measure, and its sizes. */
export type BenchOptions =
  | ({ readonly app: 'policy' } & PolicyOptions)
  | ({ readonly app: 'service-mirror' } & MirrorOptions)
  | ({ readonly app: 'wireguard' } & WireGuardBenchOptions);

/** The output of `--help`, and after an error. */
export const usage = `npm run bench -- policy [flags]
npm run bench -- service-mirror [flags]
npm run bench -- wireguard [flags]

Measures the bundle of semaphore-policy, semaphore-service-mirror or semaphore-wireguard, on its own API servers.

policy:
${policyUsage}
service-mirror:
${mirrorUsage}
policy and service-mirror:
${raceUsage}
wireguard:
${wireGuardUsage}
All:
${sharedUsage}`;

/**
 * Reads the arguments after the program's name. The first is the app.
 *
 * @returns `help` for `--help`
 * @throws {UsageError}
 */
export function parseOptions([app, ...args]: readonly string[]): BenchOptions | 'help' {
  switch (app) {
    case 'policy':
      return of(app, policyOptions(args));
    case 'service-mirror':
      return of(app, mirrorOptions(args));
    case 'wireguard':
      return of(app, wireGuardOptions(args));
    case '--help':
    case '-h':
      return 'help';
    default:
      throw new UsageError('name the app to measure: policy, service-mirror or wireguard');
  }
}

function of<A extends BenchOptions['app'], O extends object>(app: A, options: O | 'help'): ({ app: A } & O) | 'help' {
  return options === 'help' ? options : { app, ...options };
}
