import { messages, optionalBool, type Projected, string, stringMap, strings, time } from '../fields.ts';
import { identity } from '../kind.ts';

/** Numbers from k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto. */
const ownerReference = {
  kind: string(1),
  name: string(3),
  uid: string(4),
  apiVersion: string(5),
  controller: optionalBool(6),
  blockOwnerDeletion: optionalBool(7),
} as const;

/** An owner of an object; Kubernetes deletes the object with its owner. */
export type OwnerReference = Projected<typeof ownerReference>;

/** The metadata of an object that we only read. */
export const describedMetadata = {
  ...identity,
  creationTimestamp: time(8),
  labels: stringMap(11),
  annotations: stringMap(12),
} as const;

/** The metadata of an object that we write: a PUT without owners or finalizers would remove them. */
export const ownedMetadata = {
  ...describedMetadata,
  /** 0 unless the object was deleted and waits for its finalizers. */
  deletionTimestamp: time(9),
  ownerReferences: messages(13, ownerReference),
  finalizers: strings(14),
} as const;

/** Fields to write. JSON lacks those that are undefined. */
export type Written<T> = { readonly [Name in keyof T]?: T[Name] | undefined };

/** The metadata of an object to write. With `resourceVersion`, an update fails (409) if the stored object is newer. */
export type WrittenMetadata = {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly Partial<OwnerReference>[];
  readonly finalizers?: readonly string[];
};
