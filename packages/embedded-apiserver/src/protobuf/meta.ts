import {
  bool,
  embedded,
  fieldsV1,
  integer,
  map,
  message,
  optional,
  repeated,
  string,
  time,
  unknownFields,
} from './schema.ts';

// Field numbers: k8s.io/apimachinery v0.34, pkg/apis/meta/v1/generated.proto.

const ownerReference = message({
  kind: string(1),
  name: string(3),
  uid: string(4),
  apiVersion: string(5),
  controller: optional(bool(6)),
  blockOwnerDeletion: optional(bool(7)),
});

const managedFieldsEntry = message({
  manager: string(1),
  operation: string(2),
  apiVersion: string(3),
  time: optional(time(4)),
  fieldsType: string(6),
  fieldsV1: optional(fieldsV1(7)),
  subresource: string(8),
});

/** The metadata of every object. */
export const objectMeta = message(
  {
    name: string(1),
    generateName: string(2),
    namespace: string(3),
    selfLink: string(4),
    uid: string(5),
    resourceVersion: string(6),
    generation: integer(7),
    creationTimestamp: time(8),
    deletionTimestamp: optional(time(9)),
    deletionGracePeriodSeconds: optional(integer(10)),
    labels: map(11, string),
    annotations: map(12, string),
    ownerReferences: repeated(embedded(13, ownerReference)),
    finalizers: repeated(string(14)),
    managedFields: repeated(embedded(17, managedFieldsEntry)),
  },
  unknownFields,
);

export const listMeta = message({
  selfLink: string(1),
  resourceVersion: string(2),
  continue: string(3),
  remainingItemCount: optional(integer(4)),
});

const statusCause = message({ reason: string(1), message: string(2), field: string(3) });

const statusDetails = message({
  name: string(1),
  group: string(2),
  kind: string(3),
  causes: repeated(embedded(4, statusCause)),
  retryAfterSeconds: integer(5),
  uid: string(6),
});

export const status = message({
  metadata: embedded(1, listMeta),
  status: string(2),
  message: string(3),
  reason: string(4),
  details: optional(embedded(5, statusDetails)),
  code: integer(6),
});
