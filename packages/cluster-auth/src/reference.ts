import type { KubeconfigContext } from './kubeconfig/context.ts';

/** How flags and config files refer to a cluster. Paths are absolute, or relative to the working directory. */
export type ClusterReference =
  /** The Pod's own ServiceAccount. */
  | { readonly kind: 'in-cluster' }
  /** The current context of a kubeconfig. */
  | { readonly kind: 'kubeconfig'; readonly path: string }
  | {
      readonly kind: 'api-server';
      /** `https://host:port`, with a path for a proxy such as Rancher's. */
      readonly apiUrl: string;
      /** `https:`, `http:` or `file:` URL of the PEM that verifies the API server. */
      readonly caUrl: string;
      /** Only certificates whose public key has one of these hashes are trusted: `sha256:` and 64 lower-case hex digits. */
      readonly caHashes?: readonly string[] | undefined;
      /** A ServiceAccount's token. A file is read again when it changes. */
      readonly token: { readonly path: string } | { readonly value: string };
    };

/** A context that `loadKubeconfigs` and `contextOf` found. Its files of tokens and certificates are read again, itself not. */
export type ContextReference = { readonly kind: 'context'; readonly context: KubeconfigContext };
