/// The network configuration of the host, as the kernel lists it.
package struct NetlinkState: Equatable, Sendable {
    package var links: [NetlinkLink]
    package var addresses: [NetlinkAddress]
    /// The routes of all tables, in the kernel's order. Of otherwise equal routes, the kernel prefers the first.
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
