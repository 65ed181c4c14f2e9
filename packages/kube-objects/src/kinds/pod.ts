import { bool, int, message, messages, string, stringMap, time } from '../fields.ts';
import { identity, type Kind, type KubeObject } from '../kind.ts';

/**
 * Empty once Calico's CNI plugin gave the addresses of the Pod back: then they no longer belong to it (`AnnotationPodIPs` in
 * libcalico-go/lib/backend/k8s/conversion).
 */
export const podIPsAnnotation = 'cni.projectcalico.org/podIPs';

/** Numbers from k8s.io/api/core/v1/generated.proto and k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto. */
export const podKind = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  protobuf: true,
  fields: {
    metadata: message(1, {
      ...identity,
      creationTimestamp: time(8),
      /** When it should be gone: of the deletion, with its grace period. 0 unless it is being deleted. */
      deletionTimestamp: time(9),
      labels: stringMap(11),
      // All annotations of an object may have 256 KiB.
      annotations: stringMap(12, podIPsAnnotation),
    }),
    spec: message(2, { hostNetwork: bool(11) }),
    // One address of each family (ValidatePodStatusUpdate in pkg/apis/core/validation).
    status: message(3, { phase: string(1), podIPs: messages(12, { ip: string(1) }, 10) }),
  },
} as const satisfies Kind;

export type Pod = KubeObject<typeof podKind>;

const ports = messages(6, { name: string(1), containerPort: int(3), protocol: string(4) });

/** A Pod with the ports of its containers, for those who need their names. */
export const podWithPortsKind = {
  ...podKind,
  fields: {
    ...podKind.fields,
    spec: message(2, {
      ...podKind.fields.spec.fields,
      containers: messages(2, { ports }),
      initContainers: messages(20, { ports, restartPolicy: string(24) }),
    }),
  },
} as const satisfies Kind;

/** The same with its owners, node, account, images and conditions, for those who follow a packet to it. */
export const podOnNodeKind = {
  ...podWithPortsKind,
  fields: {
    ...podWithPortsKind.fields,
    metadata: message(1, {
      ...podKind.fields.metadata.fields,
      ownerReferences: messages(13, { kind: string(1), name: string(3) }),
    }),
    spec: message(2, {
      ...podWithPortsKind.fields.spec.fields,
      containers: messages(2, { image: string(2), ports }),
      serviceAccountName: string(8),
      nodeName: string(10),
    }),
    status: message(3, {
      ...podKind.fields.status.fields,
      conditions: messages(2, { type: string(1), status: string(2) }),
    }),
  },
} as const satisfies Kind;

export type PodOnNode = KubeObject<typeof podOnNodeKind>;

export type PodWithPorts = KubeObject<typeof podWithPortsKind>;
