internal import CausewayHTTPProtocols
internal import CausewayTypes
internal import CausewayWire

/// A connection of an engine, for any HTTP version. All methods may be called from any thread.
protocol HTTPConnection: AnyObject, Sendable {
    /// Starts to read from the transport. Call this method when the transport is established, or when it has begun to
    /// send early data. A call of ``perform(_:)`` may come earlier.
    func open()
    /// Handles a transport failure.
    func transportFailed(_ error: NWError)
    /// Sends a request and delivers its response.
    ///
    /// When the exchange has ended, the connection calls ``HTTPConnectionObserver/finished(_:isReusable:_:)``. If the
    /// connection has ended too, it calls ``HTTPConnectionObserver/closed(_:)`` instead.
    ///
    /// The connection may already have been reported as closed before this call. In that case, it does not send the
    /// request, and only calls ``HTTPConnectionObserver/interrupted(_:_:_:)``.
    func perform(_ exchange: HTTPExchange)
    /// Resumes reading after ``HTTPExchange/room()`` was 0.
    func readerHasRoom(_ exchange: HTTPExchange)
    /// Applies ``HTTPExchange/priority``, which changed. Has no effect if the connection does not carry this exchange.
    func priorityChanged(_ exchange: HTTPExchange)
    /// Stops work on an exchange that the engine has ended, for example after a timeout. Has no effect if the connection does not carry
    /// this exchange.
    func abandon(_ exchange: HTTPExchange)
    /// Hands over the connection to the exchange's observer in the middle of a response. The request must be completely
    /// sent, and the response must last until the connection ends.
    ///
    /// The method ``HTTPExchange/handedOver(_:at:)`` gets the result. Does nothing if the connection does not carry
    /// this exchange, or if it is an HTTP/2 connection.
    func handOver(_ exchange: HTTPExchange)
    /// Closes the connection.
    func close()
}

/// Receives connection events. The events of one connection arrive in order. No connection lock is held during a call.
protocol HTTPConnectionObserver: AnyObject, Sendable {
    /// The current time, for timeouts.
    var now: Duration { get }
    /// Reports that a connection attempt has no usable path. The attempt continues when there is a usable path.
    func waits(_ id: PoolConnectionID, _ reason: NWError)
    func connected(_ id: PoolConnectionID, _ connection: any HTTPConnection, _ facts: PoolConnectionFacts)
    /// Offers a connection whose transport is not established yet, so that requests can be sent as early data.
    ///
    /// The connection takes the waiting requests now if all of them may be sent as early data. The result is then
    /// `true`. If one of them may not, or if no request waits, nothing changes and the result is `false`.
    func connectedEarly(_ id: PoolConnectionID, _ connection: any HTTPConnection, _ facts: PoolConnectionFacts) -> Bool
    func connectFailed(_ id: PoolConnectionID, _ error: NWError)
    /// Reports that an exchange ended. The connection can carry another request if `isReusable` is `true`.
    func finished(_ id: PoolConnectionID, isReusable: Bool, _ keepAlive: KeepAlive)
    /// Reports that the connection's limit for concurrent exchanges has changed.
    func streamLimitChanged(_ id: PoolConnectionID, to limit: Int)
    /// Reports that the connection accepts no more requests. The connection's exchanges continue.
    func retired(_ id: PoolConnectionID)
    /// Reports that a response is complete. The call precedes ``HTTPExchange/finished(_:)``.
    func completed(_ exchange: HTTPExchange)
    /// Reports an exchange that cannot be sent or that was given up. The exchange must not be sent again.
    func failed(_ exchange: HTTPExchange, _ failure: HTTPFailure)
    /// Reports that the connection is closed and must not be used for later requests.
    func closed(_ id: PoolConnectionID)
    /// Reports that an exchange ended before its response was complete. `occasion` is the kind of interruption. If it
    /// permits no retry, the request ends with `failure`.
    func interrupted(_ exchange: HTTPExchange, _ occasion: RetryOccasion, _ failure: HTTPFailure)
}
