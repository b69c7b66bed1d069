internal import CausewayRuntime
package import CausewayTypes

/// The interfaces permitted for a connection.
package struct PathLimits: Hashable, Sendable {
    package var requiredInterface: NWInterface?
    /// `.other` permits any type.
    package var requiredType: NWInterface.InterfaceType = .other
    package var prohibitedInterfaces: [NWInterface]?
    package var prohibitedTypes: [NWInterface.InterfaceType]?
    package var prohibitsExpensive = false
    package var prohibitsConstrained = false
    package var allowsUltraConstrained = false

    /// The same limits, with each empty list replaced by `nil`. Both prohibit nothing, and limits with the same effect
    /// must be equal as keys of a cache.
    var normalized: PathLimits {
        var limits = self
        if prohibitedInterfaces?.isEmpty == true { limits.prohibitedInterfaces = nil }
        if prohibitedTypes?.isEmpty == true { limits.prohibitedTypes = nil }
        return limits
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
