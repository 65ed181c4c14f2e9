import { parseArgs } from 'node:util';
import { raceFlags, type RaceOptions, raceOptions } from '../race-options.ts';
import { natural, parsing, UsageError } from '../shared-options.ts';
import type { CatalogSize } from './catalog.ts';
import { isSourceKind, type SourceKind } from './source-objects.ts';

/** The options of the bench of semaphore-service-mirror; services change. */
export type MirrorOptions = RaceOptions &
  CatalogSize & {
    /** The resource that peers read. */
    readonly peersRead: SourceKind;
  };

/** Its own flags, for `--help`. */
export const mirrorUsage = `  --services N       services in the remote cluster (1000)
  --endpoints N      endpoints of each, at most 100 in a slice (10)
  --changes N        services with one changed endpoint, at 20 a second, and then as many others at full speed (300, or
                     half of all)
  --rollout N        pods of one service that are replaced within 5 s (100)
  --peer-reads KIND  resource that the programs of --peer read in the remote cluster: endpoints, as the Go program, or
                     endpointslices (endpoints); their commands can use {selector}, {namespace} of the mirrors, and {config},
                     a config file with all of it
`;

/**
 * @returns `help` for `--help`
 * @throws {UsageError}
 */
export function mirrorOptions(args: readonly string[]): MirrorOptions | 'help' {
  const values = parse(args);
  if (values.help) return 'help';
  const peersRead = values['peer-reads'];
  if (!isSourceKind(peersRead)) throw new UsageError('--peer-reads must be endpoints or endpointslices');
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
