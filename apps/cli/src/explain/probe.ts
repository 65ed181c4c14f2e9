import { type Context, inTime } from '../clusters/contexts.ts';
import { allOf, type Read, type Run } from '../clusters/objects.ts';
import { DEADLINE_SECONDS } from '../packet-test/objects.ts';
import { callFrom, newNames, removeFinished, removePods } from '../packet-test/pods.ts';
import type { Target } from '../packet-test/probe.ts';
import { addressesIn } from '../packet-test/targets.ts';
import type { Answer, Facts, Probed } from './facts.ts';
import { pathOf, serviceOf } from './path.ts';
import { servicePortOf } from './hops/ports.ts';

/** What a probe connects to, as `tcp:` URLs: the Pod itself, and the address that the Service has in the cluster of the caller. */
export function probeUrls(facts: Facts): Read<{ readonly pod: string; readonly service: string | undefined }> {
  const { isPod, via, targetIp, port } = pathOf(facts);
  const read = allOf({ ip: targetIp, port });
  if (!read.known) return read;
  const { ip, port: of } = read.value;
  if (of.protocol !== 'TCP')
    return { known: false, why: `it can only connect to TCP, and the port is of ${of.protocol}` };
  const imported = facts.serviceImport.known ? facts.serviceImport.value?.spec.ips[0] : undefined;
  const address = isPod ? undefined : (serviceOf(facts, via)?.spec.clusterIP ?? imported);
  const servicePort = servicePortOf(facts);
  const number = servicePort.known ? servicePort.value?.port : undefined;
  const pod = urlOf(ip, of.port);
  // These are of other clusters: they may be anything.
  if (pod === undefined) return { known: false, why: 'the address of the Pod is not valid' };
  return { known: true, value: { pod, service: address && number ? urlOf(address, number) : undefined } };
}

/** Undefined if it isn't an address, as `None` of a headless Service. */
function urlOf(ip: string, port: number): string | undefined {
  const [address] = addressesIn([{ ip }]);
  return address && `tcp://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** Connects from a new Pod, which has the namespace and the node of the caller, but not its labels: Services select by these. */
export async function probe(context: Context, facts: Facts, image: string, run: Run): Promise<Probed> {
  const urls = probeUrls(facts);
  if (!urls.known) return urls;
  const { pod, service } = urls.value;
  const targetOf = (url: string): Target => ({ to: facts.there.cluster, by: 'port', url });
  const targets = [pod, ...(service === undefined ? [] : [service])].map(targetOf);
  const { caller } = pathOf(facts);
  const nodeName = (caller.known && caller.value?.spec.nodeName) || undefined;
  const named = newNames(facts.from.namespace);
  const timed = inTime(context, DEADLINE_SECONDS * 1_000);
  try {
    await removeFinished(timed, named, run);
    const { outcomes } = await callFrom(timed, { ...named, image, nodeName }, targets, run);
    const [ofPod, ofService] = outcomes.map(({ url, small }): Answer => ({ url, failure: small }));
    return { known: true, value: { pod: ofPod!, service: ofService } };
  } catch (error) {
    run.signal.throwIfAborted();
    return { known: false, why: (error as Error).message };
  } finally {
    await removePods(timed, named, { signal: new AbortController().signal });
  }
}
