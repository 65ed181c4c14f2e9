import type { Dice } from '@kube-semaphore/fault-proxy';
import { RandomChanges } from '@kube-semaphore/testkit';
import type { RemoteServices } from './remote-services.ts';

/** The sources in the remote cluster, and in the local one for global Services. */
export type Sources = { readonly c2: RemoteServices; readonly c1: RemoteServices };

type Cluster = keyof Sources;

/** A Service that may be added and removed, and one of its slices. */
type Place = {
  readonly cluster: Cluster;
  readonly service: string;
  readonly slice: string;
  readonly isGlobal: boolean;
};

/** A Service with slices of these ready addresses, and the name of its local Service. */
type Staying = Pick<Place, 'cluster' | 'service' | 'isGlobal'> & {
  readonly headless: boolean;
  readonly slices: readonly (readonly string[])[];
  readonly makes: string;
};

/** The label that makes a Service global, and not a mirror. */
const globalLabels = { global: 'true', mirror: 'false' };

/** Sources that never change: their local objects must never be missing. */
export const staying: readonly Staying[] = [
  {
    cluster: 'c2',
    service: 'shop',
    headless: false,
    slices: [['10.4.0.1', '10.4.0.2'], ['fd00::1']],
    isGlobal: false,
    makes: 'c2-default-73736d-shop',
  },
  {
    cluster: 'c2',
    service: 'cart',
    headless: true,
    slices: [['10.4.0.3']],
    isGlobal: false,
    makes: 'c2-default-73736d-cart',
  },
  {
    cluster: 'c2',
    service: 'web',
    headless: false,
    slices: [['10.4.0.4']],
    isGlobal: true,
    makes: 'gl-default-73736d-web',
  },
  {
    cluster: 'c1',
    service: 'web',
    headless: false,
    slices: [['10.1.0.4']],
    isGlobal: true,
    makes: 'gl-default-73736d-web',
  },
];

/** Slices that are added, changed and removed; those of `job` and `api` with their Services, or without. */
const COMING: readonly Place[] = [
  { cluster: 'c2', service: 'shop', slice: 'shop-x', isGlobal: false },
  { cluster: 'c2', service: 'cart', slice: 'cart-x', isGlobal: false },
  { cluster: 'c2', service: 'job', slice: 'job-x', isGlobal: false },
  { cluster: 'c2', service: 'job', slice: 'job-y', isGlobal: false },
  { cluster: 'c2', service: 'web', slice: 'web-x', isGlobal: true },
  { cluster: 'c1', service: 'web', slice: 'web-x', isGlobal: true },
  { cluster: 'c2', service: 'api', slice: 'api-x', isGlobal: true },
  { cluster: 'c1', service: 'api', slice: 'api-x', isGlobal: true },
];

/** The Services without any staying slice. */
const COMING_SERVICES = ['job', 'api'];

/** Creates the sources that stay. */
export async function addStaying(sources: Sources): Promise<void> {
  for (const { cluster, service, headless, slices, isGlobal } of staying) {
    const labels = isGlobal ? globalLabels : {};
    await sources[cluster].add({ name: service, headless, labels });
    for (const [i, endpoints] of slices.entries())
      await sources[cluster].addSlice({ name: `${service}-${i}`, service, endpoints, labels });
  }
}

/** Random changes of Services and slices, by a seed, beside those that stay. */
export function serviceChanges(sources: Sources, seed: number): RandomChanges {
  const makeOne = async (dice: Dice): Promise<void> => {
    const place = dice.pick(COMING);
    if (COMING_SERVICES.includes(place.service) && dice.integer(1, 3) === 1)
      await changeService(sources[place.cluster], place);
    else if (!place.isGlobal && dice.integer(1, 6) === 1) await changePort(sources[place.cluster], place, dice);
    else await changeSlice(sources[place.cluster], place, dice);
  };
  return new RandomChanges({ seed, makeOne });
}

/** Adds or removes it. */
async function changeService(sources: RemoteServices, { service: name, isGlobal }: Place): Promise<void> {
  if (await sources.has('services', { name })) await sources.remove('services', { name });
  else await sources.add({ name, labels: isGlobal ? globalLabels : {} });
}

/** Global Services have one definition, which not all clusters would change at once. */
async function changePort(sources: RemoteServices, { service: name }: Place, dice: Dice): Promise<void> {
  if (!(await sources.has('services', { name }))) return;
  await sources.patch(
    'services',
    { name },
    { spec: { ports: [{ name: 'http', protocol: 'TCP', port: dice.integer(80, 82), targetPort: 8080 }] } },
  );
}

async function changeSlice(
  sources: RemoteServices,
  { service, slice: name, isGlobal }: Place,
  dice: Dice,
): Promise<void> {
  const endpoints = Array.from({ length: dice.integer(0, 3) }, () => endpointOf(dice));
  if (!(await sources.has('endpointslices', { name })))
    await sources.addSlice({ name, service, endpoints, labels: isGlobal ? globalLabels : {} });
  else if (dice.integer(1, 3) === 1) await sources.remove('endpointslices', { name });
  else await sources.patch('endpointslices', { name }, { endpoints });
}

/** Few addresses, so that two slices sometimes share one. */
function endpointOf(dice: Dice) {
  const last = dice.integer(1, 30);
  const ready = dice.integer(1, 4) > 1;
  return {
    addresses: [`10.4.1.${last}`],
    conditions: { ready, serving: ready, terminating: false },
    hostname: `pod-${last}`,
  };
}
