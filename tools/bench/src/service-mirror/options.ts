import { parseArgs } from 'node:util';
import { raceFlags, type RaceOptions, raceOptions } from '../race-options.ts';
import { natural, parsing, UsageError } from '../shared-options.ts';
import type { CatalogSize } from './catalog.ts';
import { isSourceKind, type SourceKind } from './source-objects.ts';

/** What the bench of semaphore-service-mirror is asked to do; services are what changes. */
export type MirrorOptions = RaceOptions &
  CatalogSize & {
    /** What the other programs read. */
    readonly peersRead: SourceKind;
  };

/** Its own flags, for `--help`. */
export const mirrorUsage = `  --services N       services in the remote cluster (1000)
  --endpoints N      endpoints of each, at most 100 in a slice (10)
  --changes N        services of which one endpoint changes, at 20 a second, and others as fast as they go (300, or half
                     of all)
  --rollout N        pods of one service that are replaced within 5 s (100)
  --peer-reads KIND  what the programs of --peer read in the remote cluster: endpoints, as the Go program does, or
                     endpointslices (endpoints); in their commands {selector}, {namespace} and {config} stand for the label
                     selector, the namespace of the mirrors, and a config file that says it all
`;

/**
 * @returns `help` if that is what is asked for
 * @throws {UsageError}
 */
export function mirrorOptions(args: readonly string[]): MirrorOptions | 'help' {
  const values = parse(args);
  if (values.help) return 'help';
  const peersRead = values['peer-reads'];
  if (!isSourceKind(peersRead)) throw new UsageError('--peer-reads is endpoints or endpointslices');
  const services = natural('services', values.services, 2);
  const endpoints = natural('endpoints', values.endpoints, 1);
  return { services, endpoints, peersRead, ...raceOptions(values, { flag: 'services', count: services }) };
}

function parse(args: readonly string[]) {
  const options = {
    ...raceFlags,
    services: { type: 'string', default: '1000' },
    endpoints: { type: 'string', default: '10' },
    rollout: { type: 'string', default: '100' },
    'peer-reads': { type: 'string', default: 'endpoints' },
  } as const;
  return parsing(() => parseArgs({ args: [...args], options }).values);
}
