import type { Resource } from '../kinds/resources.ts';
import type { Status } from './status.ts';
import type { StoredObject } from '../storage/stored-object.ts';

/** The `metadata` of a list. */
export type ListMeta = {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
};

/** Turns answers into bytes; the chunks of one answer follow each other without anything between. */
export interface Encoder {
  readonly contentType: string;
  /** Of the stream of a watch. */
  readonly watchContentType: string;
  object(resource: Resource, object: StoredObject): Iterable<Uint8Array>;
  list(resource: Resource, metadata: ListMeta, items: readonly StoredObject[]): Iterable<Uint8Array>;
  status(status: Status): Iterable<Uint8Array>;
  /** One event of a watch with an object. */
  event(type: 'ADDED' | 'MODIFIED' | 'DELETED', resource: Resource, object: StoredObject): Iterable<Uint8Array>;
  /** A bookmark: the watch's revision. `initialEventsEnd` marks the one that ends a WatchList's list. */
  bookmark(resource: Resource, resourceVersion: string, initialEventsEnd: boolean): Iterable<Uint8Array>;
  /** The event that ends a watch with an error. */
  error(status: Status): Iterable<Uint8Array>;
}

/** The annotation of the bookmark that ends the initial events of a WatchList. */
export const initialEventsEndAnnotation = { 'k8s.io/initial-events-end': 'true' };
