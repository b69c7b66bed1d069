public import Foundation

/// Receives the events of a ``NetService``. Every method has an empty default implementation.
///
/// The methods are called in the run loops in which the service is scheduled.
///
/// Counterpart: `NetServiceDelegate`, macOS 10.2, iOS 2.
public protocol NetServiceDelegate: AnyObject {
    /// Publishing starts.
    func netServiceWillPublish(_ sender: NetService)
    /// The service is published under its current name.
    func netServiceDidPublish(_ sender: NetService)
    /// Publishing failed. The dictionary contains ``NetService/errorCode`` and ``NetService/errorDomain``.
    func netService(_ sender: NetService, didNotPublish errorDict: [String: NSNumber])
    /// The service starts to resolve its host, port and addresses.
    func netServiceWillResolve(_ sender: NetService)
    /// The service's host, port or addresses were found or have changed.
    func netServiceDidResolveAddress(_ sender: NetService)
    /// Resolving failed.
    func netService(_ sender: NetService, didNotResolve errorDict: [String: NSNumber])
    /// Publishing or resolving was stopped.
    func netServiceDidStop(_ sender: NetService)
    /// The TXT record of a monitored service was received or has changed.
    func netService(_ sender: NetService, didUpdateTXTRecord data: Data)
    /// A client has connected to a service that was published with ``NetService/Options/listenForConnections``.
    func netService(
        _ sender: NetService, didAcceptConnectionWith inputStream: InputStream, outputStream: OutputStream)
}

extension NetServiceDelegate {
    /// Default implementation: does nothing.
    public func netServiceWillPublish(_ sender: NetService) {}
    /// Default implementation: does nothing.
    public func netServiceDidPublish(_ sender: NetService) {}
    /// Default implementation: does nothing.
    public func netService(_ sender: NetService, didNotPublish errorDict: [String: NSNumber]) {}
    /// Default implementation: does nothing.
    public func netServiceWillResolve(_ sender: NetService) {}
    /// Default implementation: does nothing.
    public func netServiceDidResolveAddress(_ sender: NetService) {}
    /// Default implementation: does nothing.
    public func netService(_ sender: NetService, didNotResolve errorDict: [String: NSNumber]) {}
    /// Default implementation: does nothing.
    public func netServiceDidStop(_ sender: NetService) {}
    /// Default implementation: does nothing.
    public func netService(_ sender: NetService, didUpdateTXTRecord data: Data) {}
    /// Default implementation: does nothing.
    public func netService(
        _ sender: NetService, didAcceptConnectionWith inputStream: InputStream, outputStream: OutputStream
    ) {}
}

/// Receives the events of a ``NetServiceBrowser``. Every method has an empty default implementation.
///
/// If `moreComing` is true, another call follows immediately. Update a displayed list only when `moreComing` is false.
///
/// Counterpart: `NetServiceBrowserDelegate`, macOS 10.2, iOS 2.
public protocol NetServiceBrowserDelegate: AnyObject {
    /// The search starts.
    func netServiceBrowserWillSearch(_ browser: NetServiceBrowser)
    /// The search was stopped.
    func netServiceBrowserDidStopSearch(_ browser: NetServiceBrowser)
    /// The search failed. The dictionary contains ``NetService/errorCode`` and ``NetService/errorDomain``.
    func netServiceBrowser(_ browser: NetServiceBrowser, didNotSearch errorDict: [String: NSNumber])
    /// A domain was found.
    func netServiceBrowser(_ browser: NetServiceBrowser, didFindDomain domainString: String, moreComing: Bool)
    /// A service has appeared.
    func netServiceBrowser(_ browser: NetServiceBrowser, didFind service: NetService, moreComing: Bool)
    /// A domain disappeared.
    func netServiceBrowser(_ browser: NetServiceBrowser, didRemoveDomain domainString: String, moreComing: Bool)
    /// A service disappeared. The object equals the earlier reported object.
    func netServiceBrowser(_ browser: NetServiceBrowser, didRemove service: NetService, moreComing: Bool)
}

extension NetServiceBrowserDelegate {
    /// Default implementation: does nothing.
    public func netServiceBrowserWillSearch(_ browser: NetServiceBrowser) {}
    /// Default implementation: does nothing.
    public func netServiceBrowserDidStopSearch(_ browser: NetServiceBrowser) {}
    /// Default implementation: does nothing.
    public func netServiceBrowser(_ browser: NetServiceBrowser, didNotSearch errorDict: [String: NSNumber]) {}
    /// Default implementation: does nothing.
    public func netServiceBrowser(
        _ browser: NetServiceBrowser, didFindDomain domainString: String, moreComing: Bool
    ) {}
    /// Default implementation: does nothing.
    public func netServiceBrowser(_ browser: NetServiceBrowser, didFind service: NetService, moreComing: Bool) {}
    /// Default implementation: does nothing.
    public func netServiceBrowser(
        _ browser: NetServiceBrowser, didRemoveDomain domainString: String, moreComing: Bool
    ) {}
    /// Default implementation: does nothing.
    public func netServiceBrowser(_ browser: NetServiceBrowser, didRemove service: NetService, moreComing: Bool) {}
}
