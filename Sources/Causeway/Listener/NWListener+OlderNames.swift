public import CausewayTypes

extension NWListener {
    /// Creates a listener for a port; `.any` lets the system choose one. This is an older spelling of ``init(using:on:)``.
    ///
    /// - Throws: `NWError.posix` with `EINVAL` if both `parameters` and `port` specify a local port.
    public convenience init(parameters: NWParameters, on port: NWEndpoint.Port = .any) throws {
        try self.init(using: parameters, on: port)
    }
}
