/** A route of the main table. */
export type Route = {
  /** Canonical CIDR; `0.0.0.0/0` and `::/0` for the default routes. */
  readonly destination: string;
  /** Undefined for a route that leads to no device, such as `blackhole`, or to several. */
  readonly device: string | undefined;
  /** Who made it, `rtm_protocol`: 2 is the kernel, 3 boot, 4 static. */
  readonly protocol: number;
};

/** A route that is to be added or deleted: it leads through a device. */
export type DeviceRoute = Route & { readonly device: string };
