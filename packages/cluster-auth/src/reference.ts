/** How a cluster is named in flags and config files. Paths are absolute, or relative to the working directory. */
export type ClusterReference =
  /** The pod's own service account. */
  | { readonly kind: 'in-cluster' }
  /** The current context of a kubeconfig. */
  | { readonly kind: 'kubeconfig'; readonly path: string }
  | {
      readonly kind: 'api-server';
      /** `https://host:port`, with a path where a proxy such as Rancher's wants one. */
      readonly apiUrl: string;
      /** `https:`, `http:` or `file:` URL of the PEM certificates that sign the API server's. */
      readonly caUrl: string;
      /** Only certificates whose public key has one of these hashes are trusted: `sha256:` and 64 small hex digits. */
      readonly caHashes?: readonly string[] | undefined;
      /** A service account's token. A file is read again when it changes. */
      readonly token: { readonly path: string } | { readonly value: string };
    };
