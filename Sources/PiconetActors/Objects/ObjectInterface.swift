import Distributed

/// The interface that every published object has beside its own: a ping. `objectMethods` has its methods.
let objectInterface = RemoteInterface(
  "piconet.object", of: (any DistributedActor).self, methods: [.method("ping") { _ in }])

/// Returns the methods of `objectInterface` for an object.
func objectMethods<Object: RemoteObject>(of object: Object) -> RemoteInterface.BoundMethods {
  [
    "ping": BoundMethod { arguments in
      try arguments.finish()
      // Answers when the object gets to it.
      await object.whenLocal { _ in }
      return RemoteArguments.nothing
    }
  ]
}
