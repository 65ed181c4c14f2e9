import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Encoder } from './encoder.ts';
import type { Identities } from '../access/identity.ts';
import type { RequestInfo, Target } from './request-info.ts';
import type { Resource } from '../kinds/resources.ts';
import type { Storage } from '../storage/storage.ts';
import type { KubeObject } from '../test-cluster.ts';

/** How an embedded server differs from an ordinary one. */
export type Behaviour = {
  /** API groups that accept `sendInitialEvents` and ignore it, as Calico's aggregated API server does. */
  readonly ignoreSendInitialEvents: (group: string) => boolean;
  /** Serves JSON only. */
  readonly jsonOnly: boolean;
  /** How often a watch that asked for bookmarks gets one. */
  readonly bookmarkIntervalMs: number;
  /** What a mutating webhook makes of each object that a request creates or changes, besides statuses. */
  readonly mutate: (object: KubeObject) => KubeObject;
};

/** One request for a resource, after authentication, authorization and negotiation. */
export type Call = {
  readonly storage: Storage;
  readonly identities: Identities;
  readonly behaviour: Behaviour;
  readonly info: RequestInfo;
  readonly target: Target;
  readonly resource: Resource;
  readonly encoder: Encoder;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Writes the head of the answer, and the request's line in the log. */
  readonly begin: (status: number, contentType: string) => void;
};
