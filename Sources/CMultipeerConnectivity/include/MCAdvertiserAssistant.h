// A submodule for `import MultipeerConnectivity.MCAdvertiserAssistant`; the declarations are in Swift.
#pragma once
