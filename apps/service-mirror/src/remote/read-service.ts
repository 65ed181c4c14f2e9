import type { Diagnostic } from '@kube-semaphore/multicluster';
import type { Service } from '@kube-semaphore/kube-objects';
import { isDnsLabel } from '@kube-semaphore/naming';
import { familiesOf } from '../desired/families.ts';
import { isOwnProduct } from '../desired/own-product.ts';
import { isLegalServicePort, MAX_PORTS, servicePortOf } from '../desired/ports.ts';
import type { Definition, Reading, SourceService } from '../desired/source.ts';

export type ServiceRules = {
  /** Whether a Service with these labels asks for local-first routing. */
  readonly isLocalFirst: (labels: Readonly<Record<string, string>>) => boolean;
};

const NOTHING_SKIPPED: readonly Diagnostic[] = [];
// Our own products are never a source, or two clusters would mirror each other's mirrors.
const OURS: Reading<never> = { value: undefined, skipped: NOTHING_SKIPPED };
const EXTERNAL_NAME = left('expected', 'external-name', 'it is a name for another host, and has no endpoints');

/** Reads a Service. The remote is half trusted: what ends up in a name of ours is checked here. */
export function readService({ metadata, spec }: Service, { isLocalFirst }: ServiceRules): Reading<SourceService> {
  const { uid, namespace, name, creationTimestamp, labels } = metadata;
  if (isOwnProduct(labels)) return OURS;
  if (spec.type === 'ExternalName') return EXTERNAL_NAME;
  if (!isDnsLabel(namespace) || !isDnsLabel(name))
    return left('problem', 'bad-name', `${namespace}/${name} is no name of a Service`);
  const families = familiesOf(spec);
  if (families.length === 0) return left('problem', 'bad-family', 'it has no address family that we know');
  const count = spec.ports.length;
  if (count > MAX_PORTS) return left('problem', 'too-large', `it has ${count} ports, at most ${MAX_PORTS} are allowed`);
  const ports = spec.ports.map(servicePortOf);
  // One that no API server would take would cost a global Service the parts of all other clusters.
  if (!ports.every(isLegalServicePort)) return left('problem', 'bad-port', 'it has a port that no Service can have');
  const definition: Definition = {
    headless: spec.clusterIP === 'None',
    families,
    ports,
    affinitySeconds: affinityOf(spec),
    publishNotReadyAddresses: spec.publishNotReadyAddresses,
  };
  return {
    value: { uid, namespace, name, createdAt: creationTimestamp, definition, localFirst: isLocalFirst(labels) },
    skipped: NOTHING_SKIPPED,
  };
}

/** A day is the longest that the API takes; without any it fills in three hours. */
function affinityOf({ sessionAffinity, sessionAffinityConfig }: Service['spec']): number | undefined {
  const { timeoutSeconds } = sessionAffinityConfig.clientIP;
  if (sessionAffinity !== 'ClientIP') return undefined;
  return timeoutSeconds >= 1 && timeoutSeconds <= 86_400 ? timeoutSeconds : 10_800;
}

function left(kind: Diagnostic['kind'], reason: string, detail: string): Reading<never> {
  return { value: undefined, skipped: [{ kind, reason, detail }] };
}
