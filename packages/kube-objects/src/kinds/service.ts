import { bool, int, intOrString, message, messages, type Projected, string, stringMap, strings } from '../fields.ts';
import type { Kind, KubeObject } from '../kind.ts';
import { ownedMetadata, type Written, type WrittenMetadata } from './metadata.ts';

/** Numbers from k8s.io/api/core/v1/generated.proto. */
const port = {
  name: string(1),
  protocol: string(2),
  port: int(3),
  targetPort: intOrString(4),
  nodePort: int(5),
  appProtocol: string(6),
} as const;

/**
 * A Service. Unset fields are `''`, `0` or empty, which no Service has as a value: `clusterIPs` and `ipFamilies` are empty
 * for an ExternalName, and a `timeoutSeconds` of 0 is unset.
 */
export const serviceKind = {
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  protobuf: true,
  fields: {
    metadata: message(1, ownedMetadata),
    spec: message(2, {
      // The API server has no limit, and some Services have whole port ranges; this is the limit of a slice.
      ports: messages(1, port, 20_000),
      selector: stringMap(2),
      clusterIP: string(3),
      type: string(4),
      sessionAffinity: string(7),
      externalName: string(10),
      publishNotReadyAddresses: bool(13),
      sessionAffinityConfig: message(14, { clientIP: message(1, { timeoutSeconds: int(1) }) }),
      ipFamilyPolicy: string(17),
      clusterIPs: strings(18, 10),
      ipFamilies: strings(19, 10),
      internalTrafficPolicy: string(22),
      trafficDistribution: string(23),
    }),
  },
} as const satisfies Kind;

export type Service = KubeObject<typeof serviceKind>;

export type ServicePort = Projected<typeof port>;

/**
 * A Service to write, without unset fields: the API server fills them in, and refuses some empty ones, such as an
 * `appProtocol` of `''` (422).
 */
export type WrittenService = {
  readonly metadata: WrittenMetadata;
  readonly spec: {
    readonly type?: string;
    /** `None` makes it headless; otherwise the API server assigns an address. */
    readonly clusterIP?: string;
    readonly clusterIPs?: readonly string[];
    readonly ipFamilies?: readonly string[];
    readonly ipFamilyPolicy?: string;
    readonly ports?: readonly (Written<ServicePort> & { readonly port: number })[];
    readonly selector?: Readonly<Record<string, string>>;
    readonly sessionAffinity?: string;
    readonly sessionAffinityConfig?: { readonly clientIP: { readonly timeoutSeconds: number } };
    readonly publishNotReadyAddresses?: boolean;
    readonly externalName?: string;
    readonly internalTrafficPolicy?: string;
    readonly trafficDistribution?: string;
  };
};
