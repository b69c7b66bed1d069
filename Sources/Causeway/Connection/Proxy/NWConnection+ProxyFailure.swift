internal import CausewayRuntime

extension NWConnection {
    /// The reason why a proxy script (PAC) failed, as human-readable text: the script's error with its line, or the reason why the script
    /// was not fetched. Only on Linux.
    ///
    /// Read this when the connection is waiting. `nil` if no script has failed since the latest attempt began. Do not
    /// parse the text in a program; use the error number instead.
    public var proxyFailureReason: String? { driver.routeProblem }
}
