import type { EndpointSlice } from '@kube-semaphore/kube-objects';
import { standbyAnnotation } from '@kube-semaphore/service-mirror/names';
import type { RemoteStatus } from '../../clusters/app-status.ts';
import type { Read } from '../../clusters/objects.ts';
import {
  type Facts,
  kubectl,
  mirrorPlan,
  namesOf,
  ok,
  remoteOf,
  semaphoreCheck,
  skipped,
  statusesOf,
  unknown,
  type HopResult,
  wrong,
} from '../facts.ts';
import { drainWords } from '../../status/routing.ts';
import { isSliceOf, type Via } from '../via.ts';

/** Whether there is something here that stands for the Service there, with the port. */
export function serviceHop(facts: Facts, via: Read<Via | undefined>): HopResult {
  const { to } = facts;
  if (!via.known) return unknown(via.why);
  if (via.value === undefined) return missing(facts);
  const { object, ports } = via.value;
  if (to.port !== undefined && !ports.some(({ name, port }) => name === to.port || String(port) === to.port)) {
    const edit = kubectl(facts.there.cluster, '-n', to.namespace, 'edit', 'service', to.name);
    return wrong(
      `${object} has no port ${to.port}: it has ${ports.map(({ port }) => port).join(', ') || 'none'}`,
      edit,
    );
  }
  return ok(object);
}

/** Why there is no mirror, global Service or ServiceImport. */
function missing({ to, here, there, source }: Facts): HopResult {
  const what = `${here.cluster} has no mirror, global Service or ServiceImport of ${to.namespace}/${to.name} of ${there.cluster}`;
  const inNamespace = (...words: readonly string[]): string => kubectl(there.cluster, '-n', to.namespace, ...words);
  if (source.known && source.value.service === undefined)
    return wrong(`${there.cluster} has no Service ${to.namespace}/${to.name}`, inNamespace('get', 'services,pods'));
  if (here.report.failure !== undefined) return wrong(what, here.report.failure);
  const check = semaphoreCheck(here.cluster, there.cluster);
  const statuses = statusesOf(here, 'semaphore-service-mirror');
  if (statuses.length === 0) return wrong(`${what}: no semaphore-service-mirror reports its status`, check);
  const status = statuses.find((each) => remoteOf(each, there) !== undefined);
  const remote = status && remoteOf(status, there);
  if (remote === undefined)
    return wrong(`${what}: the config of semaphore-service-mirror does not have ${namesOf(there).join(' or ')}`, check);
  const lost = lossOf(remote);
  if (lost !== undefined) return wrong(`${what}: ${lost}`, check);
  const labels = source.known ? source.value.service?.metadata.labels : undefined;
  const label = labels && missingLabel(status?.config.mirrorSelector, labels);
  if (label !== undefined)
    return wrong(`${what}: it lacks the label ${label}`, inNamespace('label', 'service', to.name, label));
  return wrong(`${what}: plan says why`, mirrorPlan(here.cluster));
}

/** Why a remote isn't followed; undefined if it is. */
export const lossOf = ({ name, up, synced, lastError }: RemoteStatus): string | undefined => {
  if (!up)
    return `semaphore-service-mirror does not reach ${name}${lastError === null ? '' : `: ${lastError.message}`}`;
  return synced ? undefined : `semaphore-service-mirror has not listed ${name} yet`;
};

/** The first `key=value` of a selector that labels lack. Other requirements are ignored. */
function missingLabel(selector = '', labels: Readonly<Record<string, string>>): string | undefined {
  const terms = selector.split(',').flatMap((term) => {
    const [, key = '', value = ''] = /^\s*([^\s!=]+)\s*==?\s*([^\s=]*)\s*$/.exec(term) ?? [];
    return key === '' ? [] : [{ key, value }];
  });
  const lacking = terms.find(({ key, value }) => labels[key] !== value);
  return lacking && `${lacking.key}=${lacking.value}`;
}

/** Whether the slices here have ready endpoints of the cluster, and the same as there. */
export function slicesHop(facts: Facts, via: Read<Via | undefined>): HopResult {
  const { here, there, source, slices, to } = facts;
  if (!via.known) return unknown(via.why);
  if (via.value === undefined) return skipped('there is nothing that has slices');
  if (!slices.known) return unknown(slices.why);
  const own = source.known ? readyIn(source.value.slices) : undefined;
  const copied = readyIn(copiesOf(facts, via.value));
  const plan = mirrorPlan(here.cluster);
  const gone = own === undefined ? [] : copied.filter((ip) => !own.includes(ip));
  if (gone.length > 0) return wrong(`${gone.join(', ')} is not ready in ${there.cluster} any more`, plan);
  const of = own === undefined ? '' : ` of ${own.length}`;
  if (copied.length > 0) return ok(`${copied.length}${of} ready endpoints of ${there.cluster}: ${copied.join(', ')}`);
  if (own === undefined)
    return unknown(`no ready endpoint of ${there.cluster}; its own slices: ${source.known ? '' : source.why}`);
  const standbys = addressesIn(copiesOf(facts, via.value).filter(isStandby));
  if (standbys.length > 0) {
    const why = drainOf(facts) ?? 'its order of clusters prefers others';
    return ok(`only standbys of ${there.cluster}, for when no other can answer: ${standbys.join(', ')}; ${why}`);
  }
  if (own.length > 0) return wrong(`no ready endpoint of ${there.cluster} is here: plan says why`, plan);
  return ok(`no ready endpoint, as in ${there.cluster} (${to.namespace}/${to.name})`);
}

const isStandby = ({ metadata }: EndpointSlice): boolean => metadata.annotations[standbyAnnotation] === 'true';

/** That of the other cluster here, in words. */
const drainOf = ({ here, there }: Facts): string | undefined =>
  statusesOf(here, 'semaphore-service-mirror')
    .flatMap(({ drains }) => drains ?? [])
    .filter(({ cluster }) => namesOf(there).includes(cluster))
    .map(drainWords)[0];

/** The slices here whose endpoints are of the cluster. */
export const copiesOf = ({ slices, there }: Pick<Facts, 'slices' | 'there'>, via: Via): readonly EndpointSlice[] =>
  slices.known ? slices.value.filter((slice) => isSliceOf(slice, via, [...namesOf(there), there.cluster])) : [];

/** An unset condition means ready. */
export const readyIn = (slices: readonly EndpointSlice[]): readonly string[] =>
  addressesIn(slices.map((slice) => ({ ...slice, endpoints: slice.endpoints.filter(isReady) })));

const isReady = ({ conditions }: EndpointSlice['endpoints'][number]): boolean => conditions.ready !== false;

export const addressesIn = (slices: readonly EndpointSlice[]): readonly string[] =>
  [...new Set(slices.flatMap(({ endpoints }) => endpoints.flatMap(({ addresses }) => addresses)))].toSorted();
