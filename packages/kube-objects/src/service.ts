import { bool, int, intOrString, message, messages, type Projected, string, stringMap, strings } from './fields.ts';
import type { Kind, KubeObject } from './kind.ts';
import { ownedMetadata, type WrittenMetadata } from './metadata.ts';

/** Numbers from k8s.io/api/core/v1/generated.proto, in which they follow no order. */
const port = {
  name: string(1),
  protocol: string(2),
  port: int(3),
  targetPort: intOrString(4),
  nodePort: int(5),
  appProtocol: string(6),
} as const;

/**
 * A Service. What has no value is `''`, `0` or empty, which a Service itself never says: an empty `clusterIPs` or
 * `ipFamilies` is that of an ExternalName, a `timeoutSeconds` of 0 is none.
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
      // The API server sets no bound, and there are Services of whole port ranges: as many as a slice may have.
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
    }),
  },
} as const satisfies Kind;

export type Service = KubeObject<typeof serviceKind>;

export type ServicePort = Projected<typeof port>;

/**
 * A Service to write. A field without a value is left out, for the API server to fill in: some that are empty, as an
 * `appProtocol` of `''`, it would refuse (422).
 */
export type WrittenService = {
  readonly metadata: WrittenMetadata;
  readonly spec: {
    readonly type?: string;
    /** `None` makes it headless; an address is given out by the API server. */
    readonly clusterIP?: string;
    readonly clusterIPs?: readonly string[];
    readonly ipFamilies?: readonly string[];
    readonly ipFamilyPolicy?: string;
    readonly ports?: readonly (Partial<ServicePort> & { readonly port: number })[];
    readonly selector?: Readonly<Record<string, string>>;
    readonly sessionAffinity?: string;
    readonly sessionAffinityConfig?: { readonly clientIP: { readonly timeoutSeconds: number } };
    readonly publishNotReadyAddresses?: boolean;
    readonly externalName?: string;
    readonly internalTrafficPolicy?: string;
  };
};
