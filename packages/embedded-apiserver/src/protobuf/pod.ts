import { objectMeta } from './meta.ts';
import { quantity } from './quantity.ts';
import { bool, embedded, integer, map, message, optional, repeated, string, time, unknownFields } from './schema.ts';

// Field numbers: k8s.io/api v0.34, core/v1/generated.proto. Only the fields that pods in our tests use.

const empty = message({});

const envVar = message({
  name: string(1),
  value: string(2),
  valueFrom: optional(
    embedded(
      3,
      message({
        fieldRef: optional(embedded(1, message({ apiVersion: string(1), fieldPath: string(2) }))),
      }),
    ),
  ),
});

const containerPort = message({
  name: string(1),
  hostPort: integer(2),
  containerPort: integer(3),
  protocol: string(4),
  hostIP: string(5),
});

const resources = message({ limits: map(1, quantity), requests: map(2, quantity) });

const container = message({
  name: string(1),
  image: string(2),
  command: repeated(string(3)),
  args: repeated(string(4)),
  workingDir: string(5),
  ports: repeated(embedded(6, containerPort)),
  env: repeated(embedded(7, envVar)),
  resources: embedded(8, resources),
  terminationMessagePath: string(13),
  imagePullPolicy: string(14),
  stdin: bool(16),
  stdinOnce: bool(17),
  tty: bool(18),
  terminationMessagePolicy: string(20),
  restartPolicy: optional(string(24)),
});

const toleration = message({
  key: string(1),
  operator: string(2),
  value: string(3),
  effect: string(4),
  tolerationSeconds: optional(integer(5)),
});

const podSpec = message(
  {
    containers: repeated(embedded(2, container)),
    restartPolicy: string(3),
    terminationGracePeriodSeconds: optional(integer(4)),
    activeDeadlineSeconds: optional(integer(5)),
    dnsPolicy: string(6),
    nodeSelector: map(7, string),
    serviceAccountName: string(8),
    serviceAccount: string(9),
    nodeName: string(10),
    hostNetwork: bool(11),
    hostPID: bool(12),
    hostIPC: bool(13),
    securityContext: optional(embedded(14, empty)),
    hostname: string(16),
    subdomain: string(17),
    schedulerName: string(19),
    initContainers: repeated(embedded(20, container)),
    tolerations: repeated(embedded(22, toleration)),
    priorityClassName: string(24),
    priority: optional(integer(25)),
    enableServiceLinks: optional(bool(30)),
    preemptionPolicy: optional(string(31)),
  },
  unknownFields,
);

const podCondition = message({
  type: string(1),
  status: string(2),
  lastProbeTime: time(3),
  lastTransitionTime: time(4),
  reason: string(5),
  message: string(6),
  observedGeneration: integer(7),
});

const containerState = message({
  waiting: optional(embedded(1, message({ reason: string(1), message: string(2) }))),
  running: optional(embedded(2, message({ startedAt: time(1) }))),
});

const containerStatus = message({
  name: string(1),
  state: embedded(2, containerState),
  lastState: embedded(3, containerState),
  ready: bool(4),
  restartCount: integer(5),
  image: string(6),
  imageID: string(7),
  containerID: string(8),
  started: optional(bool(9)),
});

const ip = message({ ip: string(1) });

const podStatus = message(
  {
    phase: string(1),
    conditions: repeated(embedded(2, podCondition)),
    message: string(3),
    reason: string(4),
    hostIP: string(5),
    podIP: string(6),
    startTime: optional(time(7)),
    containerStatuses: repeated(embedded(8, containerStatus)),
    qosClass: string(9),
    initContainerStatuses: repeated(embedded(10, containerStatus)),
    nominatedNodeName: string(11),
    podIPs: repeated(embedded(12, ip)),
    resize: string(14),
    hostIPs: repeated(embedded(16, ip)),
    observedGeneration: integer(17),
  },
  unknownFields,
);

export const pod = message(
  {
    metadata: embedded(1, objectMeta),
    spec: embedded(2, podSpec),
    status: embedded(3, podStatus),
  },
  unknownFields,
);
