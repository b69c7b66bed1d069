public import CausewayTypes

extension NWListener {
    /// Makes a listener for a port; `.any` lets the system choose one. The spelling of Apple's first presentation of the interface.
    ///
    /// - Throws: `EINVAL` when the parameters name a local endpoint with a port and `port` is given as well.
    public convenience init(parameters: NWParameters, on port: NWEndpoint.Port = .any) throws {
        try self.init(using: parameters, on: port)
    }
}
