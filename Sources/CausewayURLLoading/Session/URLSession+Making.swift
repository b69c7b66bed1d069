internal import Causeway
internal import CausewayBonjour
internal import Foundation

extension URLSession {
    func makeDataTask(_ request: URLRequest, _ outlet: TaskPlan.Outlet) -> URLSessionDataTask {
        let core = core.makeCore(self, request, TaskPlan(outlet: outlet))
        return announced(URLSessionDataTask(core: core))
    }

    func makeUploadTask(
        _ request: URLRequest?, _ source: TaskPlan.Source, _ outlet: TaskPlan.Outlet, failure: LoadFailure? = nil
    ) -> URLSessionUploadTask {
        var request = request
        // Remove the body that the program set in the request. The upload task supplies the content.
        request?.httpBody = nil
        let plan = TaskPlan(source: source, outlet: outlet, failure: failure)
        return announced(URLSessionUploadTask(core: core.makeCore(self, request, plan)))
    }

    func makeUploadTask(resuming data: Data, _ outlet: TaskPlan.Outlet) -> URLSessionUploadTask {
        guard let resume = UploadResumeData(data), let request = resume.request else {
            return makeUploadTask(nil, .data(Data()), outlet, failure: LoadFailure(.resumeDataInvalid))
        }
        let source: TaskPlan.Source
        do throws(LoadFailure) {
            source = try resume.source()
        } catch {
            return makeUploadTask(nil, .data(Data()), outlet, failure: error)
        }
        var plan = TaskPlan(source: source, outlet: outlet, upload: resume.upload.map { Boxed($0) })
        // A background session can continue an upload after the process has ended only if the content is a file. So the
        // task fails if the content is something else.
        if core.isBackground, !source.isFile { plan.failure = LoadFailure(.fileNotOpened) }
        return announced(URLSessionUploadTask(core: core.makeCore(self, request, plan)))
    }

    func makeDownloadTask(_ request: URLRequest?, _ handler: FileHandler?) -> URLSessionDownloadTask {
        let plan = TaskPlan(outlet: .file(handler), failure: request == nil ? LoadFailure(.resumeDataInvalid) : nil)
        return announced(URLSessionDownloadTask(core: core.makeCore(self, request, plan)))
    }

    func makeDownloadTask(resuming data: Data, _ handler: FileHandler?) -> URLSessionDownloadTask {
        guard let resume = ResumeData(data), let request = resume.request else {
            return makeDownloadTask(nil, handler)
        }
        let plan = TaskPlan(outlet: .file(handler), resumption: Resumption(resume, data: data))
        return announced(URLSessionDownloadTask(core: core.makeCore(self, request, plan)))
    }

    func makeStreamTask(_ host: String, _ port: Int) -> URLSessionStreamTask {
        guard let number = UInt16(exactly: port), let port = NWEndpoint.Port(rawValue: number), number > 0,
            !host.isEmpty
        else { return makeStreamTask(to: nil) }
        let endpoint = NWEndpoint.hostPort(host: NWEndpoint.Host(host), port: port)
        return makeStreamTask(to: .endpoint(endpoint, name: host, port: number))
    }

    func makeStreamTask(_ service: NetService) -> URLSessionStreamTask {
        guard let endpoint = service.streamEndpoint else { return makeStreamTask(to: nil) }
        let host = service.hostName.flatMap { $0.isEmpty ? nil : $0 } ?? "\(service.name).\(service.domain)"
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        return makeStreamTask(to: .endpoint(endpoint, name: name, port: UInt16(exactly: service.port) ?? 0))
    }

    /// - Parameter origin: Where to connect; `nil` if the program's values are not valid.
    func makeStreamTask(to origin: StreamChannel.Origin?) -> URLSessionStreamTask {
        let channel = StreamChannel(origin ?? .nowhere, core.network)
        let failure = origin == nil ? LoadFailure(.badURL) : nil
        let core = core.makeCore(self, nil, TaskPlan(outlet: .stream(channel), failure: failure))
        channel.attach(core)
        return announced(URLSessionStreamTask(core: core))
    }

    func makeWebSocketTask(_ request: URLRequest) -> URLSessionWebSocketTask {
        let channel = WebSocketChannel()
        let core = core.makeCore(self, request, TaskPlan(outlet: .webSocket(channel)))
        channel.attach(core)
        return announced(URLSessionWebSocketTask(core: core))
    }

    /// Adds a task to the session and notifies the delegate, before the task is returned to the program.
    private func announced<Task: URLSessionTask>(_ task: Task) -> Task {
        core.add(task)
        if let delegate = core.delegate?.task {
            _ = DelegateProbe.call(delegate, .createdTask) { delegate.urlSession(self, didCreateTask: task) }
        }
        return task
    }
}
