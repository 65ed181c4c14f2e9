import type { Diagnostic } from '@kube-semaphore/multicluster';
import type { Service } from '@kube-semaphore/kube-objects';
import { isDnsLabel } from '@kube-semaphore/naming';
import { type AddressRules, isUsedFamily } from '@kube-semaphore/net';
import { familiesOf, numberOf } from '../desired/families.ts';
import { isOwnProduct } from '../desired/own-product.ts';
import { isLegalServicePort, MAX_PORTS, servicePortOf } from '../desired/ports.ts';
import type { Definition, Reading, SourceService } from '../desired/source.ts';
import { readWish } from '../desired/routing/wish.ts';
import { type Importer, notExportedTo } from './export-to.ts';

export type ServiceRules = {
  /** Whether a Service with these labels asks for local-first routing. */
  readonly isLocalFirst: (labels: Readonly<Record<string, string>>) => boolean;
  /** The local cluster, for Services of a remote; undefined for its own. */
  readonly importer?: Importer | undefined;
  /** The addresses that a remote may announce. */
  readonly addresses?: AddressRules;
  /** The namespaces whose Services are used; undefined: all. */
  readonly namespaces?: readonly string[] | undefined;
};

const NOTHING_SKIPPED: readonly Diagnostic[] = [];
const OURS: Reading<never> = { value: undefined, skipped: NOTHING_SKIPPED };
const EXTERNAL_NAME = skip('external-name', 'an ExternalName Service has no endpoints', 'expected');

const NOT_MIRRORED = skip('namespace-not-mirrored', 'mirrorNamespaces of the remote lacks its namespace', 'expected');

/** Reads a Service. The remote is only partly trusted: everything that gets into a name of ours is checked here. */
export function readService({ metadata, spec }: Service, rules: ServiceRules): Reading<SourceService> {
  const { uid, namespace, name, creationTimestamp, labels, annotations } = metadata;
  if (isOwnProduct(labels)) return OURS;
  if (rules.namespaces?.includes(namespace) === false) return NOT_MIRRORED;
  const notOurs = notExportedTo(metadata, rules.importer);
  if (notOurs !== undefined) return { value: undefined, skipped: [notOurs] };
  if (spec.type === 'ExternalName') return EXTERNAL_NAME;
  if (!isDnsLabel(namespace) || !isDnsLabel(name))
    return skip('bad-name', `${namespace}/${name} is not a valid Service name`);
  const own = familiesOf(spec);
  if (own.length === 0) return skip('bad-family', 'it has neither an IPv4 nor an IPv6 address family');
  const families = own.filter((family) => isUsedFamily(numberOf(family), rules.addresses ?? {}));
  if (families.length === 0) return otherFamily(own.join(', '));
  const count = spec.ports.length;
  if (count > MAX_PORTS) return skip('too-large', `it has ${count} ports; at most ${MAX_PORTS} are allowed`);
  const ports = spec.ports.map(servicePortOf);
  // The API server would refuse an invalid port, and with it the parts of other clusters in a global Service.
  if (!ports.every(isLegalServicePort)) return skip('bad-port', 'it has an invalid port');
  const definition: Definition = {
    headless: spec.clusterIP === 'None',
    families,
    ...(families.length < own.length && { unusedFamilies: own.filter((family) => !families.includes(family)) }),
    ports,
    affinitySeconds: affinityOf(spec),
    publishNotReadyAddresses: spec.publishNotReadyAddresses,
  };
  const hasSelector = Object.keys(spec.selector).length > 0;
  const localFirst = rules.isLocalFirst(labels);
  const { wish, skipped } = readWish(annotations);
  return {
    value: { uid, namespace, name, createdAt: creationTimestamp, definition, hasSelector, localFirst, wish },
    skipped,
  };
}

/** The API server accepts up to a day, and defaults to three hours. */
function affinityOf({ sessionAffinity, sessionAffinityConfig }: Service['spec']): number | undefined {
  const { timeoutSeconds } = sessionAffinityConfig.clientIP;
  if (sessionAffinity !== 'ClientIP') return undefined;
  return timeoutSeconds >= 1 && timeoutSeconds <= 86_400 ? timeoutSeconds : 10_800;
}

/** A reading of an object that is skipped as a whole. */
export function skip(reason: string, detail: string, kind: Diagnostic['kind'] = 'problem'): Reading<never> {
  return { value: undefined, skipped: [{ kind, reason, detail }] };
}

/** A reading of an object whose address family isn't used of its remote. */
export const otherFamily = (family: string): Reading<never> =>
  skip('other-family', `it is of ${family} alone, which families of the remote lacks`, 'expected');
