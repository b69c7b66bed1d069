/// The host's network configuration, as the kernel lists it.
package struct NetlinkState: Equatable, Sendable {
    package var links: [NetlinkLink]
    package var addresses: [NetlinkAddress]
    /// The routes in all tables, in the kernel's order. The kernel prefers the first of otherwise equal routes.
    package var routes: [NetlinkRoute]
    package var rules: [NetlinkRule]

    package init(
        links: [NetlinkLink] = [], addresses: [NetlinkAddress] = [], routes: [NetlinkRoute] = [],
        rules: [NetlinkRule] = []
    ) {
        self.links = links
        self.addresses = addresses
        self.routes = routes
        self.rules = rules
    }
}
