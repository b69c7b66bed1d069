internal import Causeway
internal import Foundation

extension SessionCore {
    /// Returns a request with the session's header fields and policies applied. The request's values take precedence unless the session is
    /// stricter.
    func completed(_ request: URLRequest) -> URLRequest {
        guard changes(request) else { return request }
        let settings = settings
        var request = request
        request.change { values in
            for (name, value) in settings.http.additionalFields ?? [:] {
                let name = "\(name)"
                if !values.fields.contains(name) { values.setField("\(value)", name) }
            }
            if values.cachePolicy == .useProtocolCachePolicy { values.cachePolicy = settings.cachePolicy }
            if values.networkServiceType == .default { values.networkServiceType = settings.access.networkServiceType }
            let restricted: RequestOptions = [
                .allowsCellularAccess, .allowsExpensiveAccess, .allowsConstrainedAccess, .allowsUltraConstrainedAccess,
            ]
            let allowed = values.options.intersection(settings.access.options).intersection(restricted)
            values.options = values.options.subtracting(restricted).union(allowed)
            if settings.access.options[.requiresDNSSECValidation] { values.options.insert(.requiresDNSSECValidation) }
        }
        return request
    }

    /// Returns whether the session's settings change a request. In most sessions they do not.
    private func changes(_ request: URLRequest) -> Bool {
        settings.http.additionalFields?.isEmpty == false || settings.cachePolicy != .useProtocolCachePolicy
            || settings.access.networkServiceType != .default || settings.access.options[.requiresDNSSECValidation]
            || !request.values.options.intersection(ConnectionNeeds.restrictions).subtracting(settings.access.options)
                .isEmpty
    }

    /// Returns the `URLProtocol` class for a task, or `nil` if there is none. The shared session tries registered classes first, then the
    /// configuration's classes and the built-in classes.
    func protocolClass(for task: URLSessionTask, _ request: URLRequest) -> URLProtocol.Type? {
        guard hasProgramProtocols else { return nil }
        var classes: [AnyClass] = []
        if settings.background.identifier == nil { classes += settings.protocolClasses ?? [] }
        if isShared { classes = ProtocolRegistry.registered.filter { !BuiltInProtocols.contains($0) } + classes }
        for candidate in classes + BuiltInProtocols.all {
            guard let type = candidate as? URLProtocol.Type else { continue }
            if type.canInit(with: task) { return type }
        }
        return nil
    }

    /// Returns the cached response that a ``URLProtocol`` may use.
    func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        switch request.cachePolicy {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: nil
        default: settings.stores.cache?.cachedResponse(for: request)
        }
    }

    /// The maximum content size of a response to cache, in bytes. It is 5 % of the cache capacity.
    var maximumCachedSize: Int { settings.stores.cache?.maximumContentSize ?? 0 }
}
