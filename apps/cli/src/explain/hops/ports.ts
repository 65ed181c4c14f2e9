import type { PodOnNode, PodWithPorts, Service } from '@kube-semaphore/kube-objects';
import type { FlowPort } from '@kube-semaphore/network-policies';
import { mapRead, type Read } from '../../clusters/objects.ts';
import { some } from '../../output/some.ts';
import {
  explainAgain,
  type Facts,
  kubectl,
  ok,
  semaphoreTest,
  unknown,
  type HopResult,
  warning,
  wrong,
} from '../facts.ts';
import { endText, portText } from '../words.ts';

type ServicePort = Service['spec']['ports'][number];

/** The port of the Service there that is called: the first, if none is named; undefined: it has no such port. */
export const servicePortOf = ({ to, source }: Pick<Facts, 'to' | 'source'>): Read<ServicePort | undefined> =>
  mapRead(source, ({ service }) =>
    service?.spec.ports.find(
      ({ name, port, protocol }) =>
        [undefined, name, String(port)].includes(to.port) && [undefined, protocol || 'TCP'].includes(to.protocol),
    ),
  );

/** What is called. */
export type Called = { readonly target: Read<PodOnNode | undefined>; readonly isPod: boolean };

/** The port of the target Pod that the packet is for. */
export function portOf(facts: Facts, { target, isPod }: Called): Read<FlowPort> {
  const { to } = facts;
  const none = { known: false, why: 'the port is not known: name one, such as :80' } as const;
  if (isPod) return /^\d+$/.test(to.port ?? '') ? known(Number(to.port), to.protocol ?? 'TCP') : none;
  const found = servicePortOf(facts);
  if (!found.known) return found;
  if (found.value === undefined) return none;
  const { port, targetPort, protocol } = found.value;
  if (typeof targetPort === 'number') return known(targetPort || port, protocol || 'TCP');
  const pod = target.known ? target.value : undefined;
  const named = pod && portsIn(pod).find(({ name }) => name === targetPort);
  return named === undefined
    ? { known: false, why: `no container has the port ${targetPort}, the targetPort of ${to.namespace}/${to.name}` }
    : known(named.containerPort, protocol || 'TCP');
}

const known = (port: number, protocol: string) => ({ known: true, value: { port, protocol } }) as const;

/** Of containers that run beside each other: an init container that restarts is a sidecar. */
export const portsIn = ({ spec: { containers, initContainers } }: Pick<PodWithPorts, 'spec'>) =>
  [...containers, ...initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always')].flatMap(
    ({ ports }) => ports,
  );

/** Whether a Pod that is fine listens on the port: what its containers say is only a hint, and a probe decides. */
export function listenHop(at: HopResult, facts: Facts, called: Called): HopResult {
  const { to, there, probed } = facts;
  const { target, isPod } = called;
  if (at.result !== 'ok' || !target.known || target.value === undefined) return at;
  const { namespace, name } = target.value.metadata;
  const cure = isPod
    ? kubectl(there.cluster, '-n', namespace, 'describe', 'pod', name)
    : `${kubectl(there.cluster, '-n', to.namespace, 'edit', 'service', to.name)}  # targetPort`;
  const port = portOf(facts, called);
  const wanted = servicePortOf(facts);
  if (!port.known && !isPod && wanted.known && typeof wanted.value?.targetPort === 'string')
    return wrong(`${at.detail}, but ${port.why}`, cure);
  const hint = port.known ? undeclared(port.value, target.value) : undefined;
  const found = hint === undefined ? at.detail : `${at.detail}, but ${hint}`;
  if (probed === undefined)
    return hint === undefined
      ? at
      : warning(`${found}. It may listen there all the same: a probe finds out`, again(facts));
  if (!probed.known) return unknown(`${found}; there was no probe: ${probed.why}`);
  const { url, failure } = probed.value.pod;
  if (failure === null) return ok(`${at.detail}; it answers a probe of ${hostOf(url)}`);
  const why = hint === undefined ? '' : `: ${hint}`;
  if (failure === 'refused') return wrong(`${namespace}/${name} refuses a probe of ${hostOf(url)}${why}`, cure);
  return wrong(
    `a probe of ${hostOf(url)} ${wordsOf(failure)}${why}. A policy, a firewall or a route may drop its packets; policies that ` +
      'select the caller by its labels do not allow the probe',
    semaphoreTest(facts.here.cluster, there.cluster),
  );
}

/** Whether the address that a Service of another cluster has here leads to the Pod, which itself answers. */
export function addressHop(at: HopResult, { probed, here }: Facts): HopResult {
  if (at.result !== 'ok' || probed?.known !== true || probed.value.service === undefined) return at;
  const { pod, service } = probed.value;
  const { url, failure } = service;
  if (failure === null) return ok(`${at.detail}; ${hostOf(url)} answers a probe`);
  const found = `${at.detail}; a probe of its address ${hostOf(url)} ${wordsOf(failure)}`;
  if (pod.failure !== null) return ok(`${found}; that of the Pod fails, too: see target`);
  const cure = kubectl(here.cluster, '-n', 'kube-system', 'get', 'pods');
  return wrong(`${found}, but the Pod answers: kube-proxy, or what replaces it, does not lead there`, cure);
}

const hostOf = (url: string): string => url.replace('tcp://', '');

const wordsOf = (failure: string): string =>
  failure === 'refused' ? 'is refused' : failure === 'timed out' ? 'times out' : `fails: ${failure}`;

/** That a Pod has ports, but not this one. Without any, its containers may listen on all. */
function undeclared({ port, protocol }: FlowPort, pod: PodOnNode): string | undefined {
  const declared = portsIn(pod).map((each) => `${each.containerPort}/${each.protocol || 'TCP'}`);
  const wanted = `${port}/${protocol}`;
  return declared.length === 0 || declared.includes(wanted)
    ? undefined
    : `its containers declare ${some(declared)}, not ${wanted}`;
}

/** A name that clusters share needs the cluster, too. */
function again({ from, to, there }: Facts): string {
  const isShared = to.zone === 'global' || to.zone === 'import';
  const domain = to.zone === 'global' ? 'cluster.global' : 'clusterset.local';
  const name = isShared ? `${to.name}.${to.namespace}.svc.${domain}` : endText({ ...to, context: there.cluster });
  const shared = isShared ? ['--to-context', there.cluster] : [];
  return explainAgain('--from', endText(from), '--to', `${name}${portText(to)}`, ...shared);
}
