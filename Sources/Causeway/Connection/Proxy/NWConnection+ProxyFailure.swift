internal import CausewayRuntime

extension NWConnection {
    /// The reason why a proxy script (PAC) failed, as text for users: the script's error with its line, or the reason why the script was
    /// not fetched. Only on Linux.
    ///
    /// Read this when the connection is waiting. `nil` if no script has failed since the last attempt began. A program should not parse the
    /// text but use the number of the error.
    public var proxyFailureReason: String? { driver.routeProblem }
}
