internal import CausewayRuntime

extension NWConnection {
    /// Why a proxy script (PAC) led nowhere, for a person: what the script's error is and in which line, or why it was not fetched.
    /// Only on Linux.
    ///
    /// Ask when the connection waits. `nil` where no script has failed since the last attempt began. A program decides by the error's
    /// number, not by this text.
    public var proxyFailureReason: String? { driver.routeProblem }
}
