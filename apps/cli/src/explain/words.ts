import { parseIp } from '@kube-semaphore/net';
import { UsageError } from '../usage-error.ts';

/** What names Pods; a `namespace` names all that are in it. */
const kinds = ['pod', 'deployment', 'statefulset', 'daemonset', 'namespace'] as const;

/** Where a packet comes from, or goes to. The context may have slashes. */
export type End = {
  readonly context: string;
  readonly namespace: string;
  /** Empty with the kind `namespace`. */
  readonly name: string;
  /** Undefined: a Pod; of a destination a Service, or else a Pod. */
  readonly kind?: (typeof kinds)[number];
  /** By which a Pod is meant; canonical. Until it is looked up, namespace and name are empty. */
  readonly ip?: string;
};

/** `mirror`: `<service>.<namespace>.svc.cluster.<remote>`; and the two names that several clusters share. */
export type Zone = 'mirror' | 'global' | 'import';

/** Where a packet goes. A Pod, if there is no Service with the name. */
export type Destination = End & {
  /** Name or number; of a Service if it has one. */
  readonly port: string | undefined;
  /** `TCP`, for example; undefined: that of the port of the Service, or TCP. */
  readonly protocol?: string | undefined;
  /** Which kind of name it must be reached by; undefined: any. */
  readonly zone: Zone | undefined;
};

const PODS = 'context/namespace/pod, context/namespace/deployment/name or context/address';

/** @throws {UsageError} */
export function parseSource(text: string): End {
  const end = endOf(text);
  if (end === undefined) throw new UsageError(`--from ${JSON.stringify(text)} is not a Pod: use ${PODS}`);
  return end;
}

/**
 * Reads an end of Pods, or `context/namespace/service`, each with `:port` or `:port/protocol`; or a DNS name. The context
 * of `….svc.cluster.c2` is c2.
 *
 * @param context of a DNS name that several clusters share
 * @throws {UsageError}
 */
export function parseDestination(text: string, context: string | undefined): Destination {
  const whole = endOf(text);
  // Its last part looks like a port.
  if (whole?.ip !== undefined) return { ...whole, port: undefined, zone: undefined };
  const [, address = text, port, protocol] =
    /^(.*):([a-z0-9-]{1,15})(?:\/(tcp|TCP|udp|UDP|sctp|SCTP))?$/.exec(text) ?? [];
  const asked = { port, protocol: protocol?.toUpperCase() };
  const end = endOf(address);
  if (end !== undefined) return { ...end, ...asked, zone: undefined };
  const dns = /^([a-z0-9-]+)\.([a-z0-9-]+)\.svc\.(?:cluster\.([A-Za-z0-9.-]+?)|(clusterset)\.local)\.?$/.exec(address);
  if (dns === null)
    throw new UsageError(
      `--to ${JSON.stringify(text)} is not a Service, Pod or DNS name: use context/namespace/name, or service.namespace.svc.cluster.c2`,
    );
  const [, name = '', namespace = '', remote = '', clusterset] = dns;
  const zone = clusterset !== undefined ? 'import' : remote === 'global' ? 'global' : 'mirror';
  const found = zone === 'mirror' ? remote : context;
  if (found === undefined)
    throw new UsageError(`several clusters may answer for ${address}: choose one with --to-context`);
  return { context: found, namespace, name, ...asked, zone };
}

function endOf(text: string): End | undefined {
  const [name = '', second = '', ...before] = text.split('/').toReversed();
  const contextOf = (...parts: readonly string[]): string => parts.toReversed().join('/');
  const ip = parseIp(name.replaceAll(/^\[|\]$/g, ''));
  const kind = kinds.find((each) => each === second);
  const [namespace = '', ...rest] = before;
  const isOfKind = kind !== undefined && kind !== 'namespace' && rest.length > 0;
  const end: End = isOfKind
    ? { context: contextOf(...rest), namespace, name, kind }
    : kind === 'namespace'
      ? { context: contextOf(...before), namespace: name, name: '', kind }
      : ip.ok
        ? { context: contextOf(second, ...before), namespace: '', name: '', ip: ip.value }
        : { context: contextOf(...before), namespace: second, name };
  const needed = [end.context, ...(end.ip === undefined ? [end.namespace] : []), ...(kind ? [] : [name])];
  return needed.includes('') ? undefined : end;
}

/** As the user would name it. */
export function endText({ context, namespace, name, kind }: End): string {
  if (kind === 'namespace') return `${context}/namespace/${namespace}`;
  return [context, namespace, ...(kind === undefined ? [] : [kind]), name].join('/');
}

/** `:80`, `:53/UDP`, or empty. */
export const portText = ({ port, protocol }: Destination): string =>
  port === undefined ? '' : `:${port}${protocol === undefined ? '' : `/${protocol}`}`;
