internal import CausewayRuntime
package import CausewayTypes

/// The interfaces permitted for a connection.
package struct PathLimits: Hashable, Sendable {
    package var requiredInterface: NWInterface?
    /// The only permitted interface type; `.other` permits any type.
    package var requiredType: NWInterface.InterfaceType = .other
    package var prohibitedInterfaces: [NWInterface]?
    package var prohibitedTypes: [NWInterface.InterfaceType]?
    package var prohibitsExpensive = false
    package var prohibitsConstrained = false
    package var allowsUltraConstrained = false

    /// These limits, with `nil` in place of each empty list. `nil` and an empty list have the same effect. The limits
    /// are part of the cache key for proxy scripts. So limits with the same effect must be equal.
    var normalized: PathLimits {
        var limits = self
        if prohibitedInterfaces?.isEmpty == true { limits.prohibitedInterfaces = nil }
        if prohibitedTypes?.isEmpty == true { limits.prohibitedTypes = nil }
        return limits
    }

    /// Socket settings with these limits only.
    var settings: SocketSettings {
        var settings = SocketSettings(transport: .udp)
        apply(to: &settings)
        return settings
    }

    func apply(to settings: inout SocketSettings) {
        settings.requiredInterface = requiredInterface
        settings.prohibitedInterfaces = prohibitedInterfaces ?? []
        settings.requiredInterfaceType = requiredType == .other ? nil : requiredType
        settings.prohibitedInterfaceTypes = prohibitedTypes ?? []
        settings.prohibitsExpensive = prohibitsExpensive
        settings.prohibitsConstrained = prohibitsConstrained
        settings.allowsUltraConstrained = allowsUltraConstrained
    }
}
