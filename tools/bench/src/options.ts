import { type PolicyOptions, policyOptions, policyUsage } from './policy/options.ts';
import { raceUsage } from './race-options.ts';
import { type MirrorOptions, mirrorOptions, mirrorUsage } from './service-mirror/options.ts';
import { sharedUsage, UsageError } from './shared-options.ts';
import { type WireGuardBenchOptions, wireGuardOptions, wireGuardUsage } from './wireguard/options.ts';

/** What to measure, and how much of it. */
export type BenchOptions =
  | ({ readonly app: 'policy' } & PolicyOptions)
  | ({ readonly app: 'service-mirror' } & MirrorOptions)
  | ({ readonly app: 'wireguard' } & WireGuardBenchOptions);

/** What to print for `--help`, and for a mistake. */
export const usage = `npm run bench -- policy [flags]
npm run bench -- service-mirror [flags]
npm run bench -- wireguard [flags]

Measures semaphore-policy, semaphore-service-mirror or semaphore-wireguard as its image has it, on API servers of its own.

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
 * Reads the arguments after the program's name, of which the first one is the app's.
 *
 * @returns `help` if that is what is asked for
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
      throw new UsageError('say what to measure: policy, service-mirror or wireguard');
  }
}

function of<A extends BenchOptions['app'], O extends object>(app: A, options: O | 'help'): ({ app: A } & O) | 'help' {
  return options === 'help' ? options : { app, ...options };
}
