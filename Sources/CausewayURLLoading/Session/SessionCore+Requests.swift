internal import Causeway
internal import Foundation

extension SessionCore {
    /// Returns a request with the fields and the policies of the session. The values of the request win, unless the session is stricter.
    func completed(_ request: URLRequest) -> URLRequest {
        var request = request
        let settings = settings
        request.change { values in
            for (name, value) in settings.http.additionalFields ?? [:] {
                let name = "\(name)"
                if !values.fields.contains(name) { values.fields.append(name, "\(value)") }
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

    /// Returns the class that loads a task: of the configuration, then a registered one for the shared session, then a built-in one.
    /// `nil` if no class loads it.
    func protocolClass(for task: URLSessionTask, _ request: URLRequest) -> URLProtocol.Type? {
        var classes: [AnyClass] = []
        if settings.background.identifier == nil { classes += settings.protocolClasses ?? [] }
        if isShared { classes = ProtocolRegistry.registered.filter { !BuiltInProtocols.contains($0) } + classes }
        for candidate in classes + BuiltInProtocols.all {
            guard let type = candidate as? URLProtocol.Type else { continue }
            if type.canInit(with: task) { return type }
        }
        return nil
    }

    /// Returns the stored response that a ``URLProtocol`` may use.
    func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        switch request.cachePolicy {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: nil
        default: settings.stores.cache?.cachedResponse(for: request)
        }
    }

    /// The largest content that is stored: 5 % of the cache.
    var maximumCachedSize: Int {
        guard let cache = settings.stores.cache else { return 0 }
        return max(cache.memoryCapacity, cache.diskCapacity) / 20
    }
}
